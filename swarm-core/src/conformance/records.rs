//! Records to put into a world, plain unless a case says otherwise.

use crate::domain::{
    Body, Confidence, Contact, Day, Lens, Mail, Member, MemberId, MemberState, MemoUrl, Name,
    Nonce, PublicKey, SecretHash, Session, SessionDraft, SessionState, Stance, SubjectId,
    TakeDraft, Timestamp, Version,
};
use crate::proof::KeyPair;
use crate::rules::Submission;
use crate::store::MemberChange;

/// An applicant with a key of its own.
pub(super) fn applicant(name: &str) -> Member {
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

/// The write of a new member.
pub(super) fn creation(member: &Member) -> MemberChange {
    MemberChange { member: member.clone(), expected: None, proven: None, mail: None }
}

/// A session to convene, open to all, without a deadline.
pub(super) fn draft(subject: &str) -> SessionDraft {
    SessionDraft {
        date: day("2026-11-21"),
        subject_id: SubjectId::parse(subject).unwrap(),
        state: SessionState::Collecting,
        window_closes_at: None,
        quorum: None,
        buckets: None,
        roster: None,
    }
}

pub(super) fn mail(subject: &str) -> Mail {
    let to = Contact::parse("ada@example.org").unwrap();
    Mail { to, subject: subject.to_owned(), body: "Hello".to_owned() }
}

pub(super) fn id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

pub(super) fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

pub(super) fn moment(text: &str) -> Timestamp {
    Timestamp::parse("moment", text).unwrap()
}

/// The hash of a secret of this name.
pub(super) fn secret(name: &str) -> SecretHash {
    SecretHash::of(name.as_bytes())
}

pub(super) fn key(name: &str) -> PublicKey {
    PublicKey::parse(&keys(name).public_key()).unwrap()
}

fn keys(name: &str) -> KeyPair {
    KeyPair::from_seed(secret(name).as_bytes())
}

/// The first version of a record.
pub(super) const FIRST: Version = Version(1);

/// Texts of 1 to 100 characters, all different, some of which a careless store would confuse or
/// misread.
pub(super) fn odd_texts() -> Vec<String> {
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

/// A member with its own key pair and bearer token.
pub(super) struct Author {
    pub(super) id: MemberId,
    pub(super) token: SecretHash,
    keys: KeyPair,
}

impl Author {
    /// A member that nobody has put on file.
    pub(super) fn named(name: &str) -> Self {
        Self { id: id(name), token: secret(name), keys: keys(name) }
    }

    /// A plain take for `session`.
    pub(super) fn draft(&self, session: &Session, nonce: &str) -> TakeDraft {
        TakeDraft {
            member_id: self.id.clone(),
            date: session.date,
            subject_id: session.subject_id.clone(),
            nonce: Nonce::parse(nonce).unwrap(),
            stance: Stance::parse("bullish").unwrap(),
            confidence: Confidence::parse(0.5).unwrap(),
            body: Body::parse("").unwrap(),
            memo_url: MemoUrl::parse("").unwrap(),
            weights: None,
        }
    }

    pub(super) fn sign(&self, draft: TakeDraft) -> Submission {
        Submission::new(self.keys.sign(draft))
    }

    /// A plain take for `session`, signed.
    pub(super) fn submission(&self, session: &Session, nonce: &str) -> Submission {
        self.sign(self.draft(session, nonce))
    }
}
