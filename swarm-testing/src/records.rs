//! Minimal records for tests.

use swarm_core::domain::json::{Json, Object};
use swarm_core::domain::{
    Actor, Application, Attribution, Body, Challenge, ChallengeSeed, Confidence, Contact, Day,
    Digest, Figures, Lens, LogEntry, Mail, Member, MemberId, MemberState, Name, Note,
    Participation, PublicKey, Quote, Revision, Salt, SecretHash, SessionDraft, SessionId, Signed,
    Stance, Stances, SubjectId, TakeId, Timestamp, TokenHash, Version,
};
use swarm_core::proof::KeyPair;
use swarm_core::store::{Act, MemberChange};

/// An application that is signed with the [`keys`] of this name, which is not the name that it gives.
pub fn application(name: &str) -> Signed<Application> {
    let keys = keys(name);
    let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("ada@example.org").unwrap());
    let (lens, public_key) = (Lens::parse("").unwrap(), keys.public_key().to_string());
    keys.sign(Application { name, contact, lens, public_key })
}

/// An applicant, with a key derived from its name.
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
        token_claimed_at: None,
        used_claim: None,
    }
}

/// A member with a claimed token, [`secret`] of its name, and a key derived from its name.
pub fn claimed(name: &str) -> Member {
    let then = Some(Timestamp::EPOCH);
    Member {
        state: MemberState::Claimed,
        reviewed_at: then,
        joined_at: then,
        claimed_at: then,
        token: Some(secret(name)),
        token_claimed_at: then,
        ..applicant(name)
    }
}

/// The change that creates a member.
pub fn creation(member: &Member) -> MemberChange {
    MemberChange::creation(member.clone())
}

/// The log entry of a change of the subject with this id.
pub fn act(what: &str) -> Act {
    let (by, digest) = (Actor::OPERATOR, Digest::of(what.as_bytes()));
    LogEntry::Subject { by, id: subject(what), digest }.into()
}

/// The log entry of a change of this session, with this note.
pub fn act_on(session: SessionId, note: &str) -> Act {
    let note = Some(Note::parse(note).unwrap());
    let draft = session_draft("aurora").convened(session, Timestamp::EPOCH);
    swarm_core::rules::brief_published(&draft, &Attribution { by: Actor::OPERATOR, note })
}

/// A session on 2026-11-21 to convene, without roster and deadline.
pub fn session_draft(subject_id: &str) -> SessionDraft {
    SessionDraft::new(day("2026-11-21"), subject(subject_id))
}

/// A challenge with a seed of this name and this expiry. It is not reusable.
pub fn challenge(name: &str, expires_at: Timestamp) -> Challenge {
    Challenge { seed: seed(name), reusable_until: Timestamp::EPOCH, expires_at }
}

/// A seed derived from a name.
pub fn seed(name: &str) -> ChallengeSeed {
    ChallengeSeed(*TokenHash::of(name.as_bytes()).as_bytes())
}

/// A mail to a member.
pub fn mail(subject: &str) -> Mail {
    let to = Contact::parse("ada@example.org").unwrap();
    Mail { to, subject: subject.to_owned(), body: "Hello".to_owned() }
}

/// Parses a member id.
pub fn id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

/// Parses a subject id.
pub fn subject(text: &str) -> SubjectId {
    SubjectId::parse(text).unwrap()
}

/// Parses a day.
pub fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

/// Parses a timestamp.
pub fn moment(text: &str) -> Timestamp {
    Timestamp::parse("moment", text).unwrap()
}

/// The hash of a name, in place of a secret.
pub fn secret<S>(name: &str) -> SecretHash<S> {
    SecretHash::of(name.as_bytes())
}

/// Parses a JSON object.
pub fn object(json: &str) -> Object {
    Json::read(json.as_bytes()).unwrap().into_object()
}

/// The public key of the member with this name.
pub fn key(name: &str) -> PublicKey {
    keys(name).public_key()
}

/// The key pair of the member with this name; derived from the name.
pub fn keys(name: &str) -> KeyPair {
    KeyPair::from_seed(TokenHash::of(name.as_bytes()).as_bytes())
}

/// The salt of sealed takes in tests.
pub const SALT: Salt = Salt([0x5a; 32]);

/// The first version of a record.
pub const FIRST: Version = Version(1);

/// Distinct texts of 1 to 100 characters that a faulty store may confuse or misinterpret.
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

/// The figures of a session that nobody filed in.
pub fn figures() -> Figures {
    Figures {
        aggregated_at: Timestamp::EPOCH,
        participation: Participation { members: 0, expected: None, rate: None },
        quorum: None,
        stances: Stances::default(),
        consensus: None,
    }
}

/// A quote of the only take.
pub fn quote(member: &str, body: &str) -> Quote {
    Quote {
        take_id: TakeId(1),
        member_id: id(member),
        revision: Revision::CAP,
        stance: Stance::parse("bullish").unwrap(),
        confidence: Confidence::parse(0.5).unwrap(),
        body: Some(Body::parse(body).unwrap()),
    }
}
