//! Records to put on file, plain unless a test says otherwise.

use swarm_core::domain::json::{Json, Object};
use swarm_core::domain::{
    Act, Challenge, ChallengeSeed, Contact, Day, Lens, Mail, Member, MemberId, MemberState, Name,
    PublicKey, SecretHash, SessionDraft, SessionId, SessionState, SubjectId, Timestamp, TokenHash,
    Version,
};
use swarm_core::proof::KeyPair;
use swarm_core::store::MemberChange;

/// An applicant with a key of its own.
pub fn applicant(name: &str) -> Member {
    Member {
        id: id(name),
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: Some(key(name)),
        state: MemberState::Applied,
        applied_at: Timestamp::EPOCH,
        reviewed_at: None,
        joined_at: None,
        claimed_at: None,
        token: None,
    }
}

/// A member that has claimed its token, [`secret`] of its name, and has a key of its own.
pub fn claimed(name: &str) -> Member {
    let then = Some(Timestamp::EPOCH);
    Member {
        state: MemberState::Claimed,
        reviewed_at: then,
        joined_at: then,
        claimed_at: then,
        token: Some(secret(name)),
        ..applicant(name)
    }
}

/// The write of a new member.
pub fn creation(member: &Member) -> MemberChange {
    MemberChange {
        member: member.clone(),
        expected: None,
        proven: None,
        mail: None,
        quota: None,
        act: None,
    }
}

/// What a change says of itself in the log.
pub fn act(what: &str) -> Act {
    Act::new(format!(r#"{{"kind":"{what}"}}"#))
}

/// What a change of this session says of itself in the log.
pub fn act_on(session: SessionId, what: &str) -> Act {
    Act::on(session, format!(r#"{{"kind":"{what}"}}"#))
}

/// A session of 2026-11-21 to convene, open to all, without a deadline.
pub fn session_draft(subject_id: &str) -> SessionDraft {
    SessionDraft {
        date: day("2026-11-21"),
        subject_id: subject(subject_id),
        state: SessionState::Collecting,
        window_closes_at: None,
        quorum: None,
        buckets: None,
        roster: None,
    }
}

/// A challenge of this name that is good until then. It stands no longer than it takes.
pub fn challenge(name: &str, expires_at: Timestamp) -> Challenge {
    Challenge { seed: seed(name), reusable_until: Timestamp::EPOCH, expires_at }
}

/// The seed of a challenge of this name.
pub fn seed(name: &str) -> ChallengeSeed {
    ChallengeSeed(*TokenHash::of(name.as_bytes()).as_bytes())
}

/// A message to a member, not queued yet.
pub fn mail(subject: &str) -> Mail {
    let to = Contact::parse("ada@example.org").unwrap();
    Mail { to, subject: subject.to_owned(), body: "Hello".to_owned() }
}

/// The id that reads so.
pub fn id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

/// The subject that reads so.
pub fn subject(text: &str) -> SubjectId {
    SubjectId::parse(text).unwrap()
}

/// The day that reads so.
pub fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

/// The moment that reads so.
pub fn moment(text: &str) -> Timestamp {
    Timestamp::parse("moment", text).unwrap()
}

/// The hash of a secret of this name.
pub fn secret<S>(name: &str) -> SecretHash<S> {
    SecretHash::of(name.as_bytes())
}

/// The object of this JSON text, to read fields from.
pub fn object(json: &str) -> Object {
    Json::read(json.as_bytes()).unwrap().into_object()
}

/// The public key of the member of this name.
pub fn key(name: &str) -> PublicKey {
    PublicKey::parse(&keys(name).public_key()).unwrap()
}

/// The key pair of the member of this name, always the same.
pub fn keys(name: &str) -> KeyPair {
    KeyPair::from_seed(TokenHash::of(name.as_bytes()).as_bytes())
}

/// The first version of a record.
pub const FIRST: Version = Version(1);

/// Texts of 1 to 100 characters, all different, some of which a careless store would confuse or
/// misread.
pub fn odd_texts() -> Vec<String> {
    #[rustfmt::skip]
    let odd = [
        "a", "A", "b", "ab", "a b", " a", "a ", "a:b", "a:b:c", "a/b", "../a", ".", "..", "a\0b",
        "a\nb", "\0", "\n", "\r\n", "*", "a*", "?", "[a]", "{a}", "a}{b", "{}", "\"", "\\",
        "\\u0061", "%61", "0", "00", "1", "-1", "1e0", "null", "false", "decoy", "\u{e9}",
        "e\u{301}", "\u{feff}a", "\u{202e}a", "\u{ffff}", "\u{10000}",
    ];
    let long = |last: &str| "\u{1f680}".repeat(99) + last;
    odd.into_iter().map(str::to_owned).chain([long("a"), long("b")]).collect()
}
