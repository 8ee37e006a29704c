//! The entries of the log (API.md, 11.2).
//!
//! The exact text of an entry is a pure function of its record. Anyone who has the record computes
//! the same bytes, and proofs of the log are over these bytes. [`LogLine::text`] writes
//! it, with the fields in the order of these types, and nothing else in the workspace does.

use serde::{Deserialize, Serialize};

use super::{Actor, Note, Seq};
use crate::domain::committee::CommitteeMemberId;
use crate::domain::json::write;
use crate::domain::{
    Day, Digest, Invalid, MemberId, MemoId, PublicKey, Revision, SessionId, SessionState,
    Signature, SubjectId, SubjectSnapshotId, TakeId, Timestamp,
};

/// An entry with its number and time: a line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number.
    pub seq: Seq,
    /// When it was committed, by the store's clock.
    pub at: Timestamp,
    /// The entry.
    #[serde(flatten)]
    pub entry: LogEntry,
}

impl LogLine {
    /// The exact text: a JSON object, without a line break.
    pub fn text(&self) -> String {
        write(self)
    }

    /// Reads the exact text of a line.
    ///
    /// # Errors
    /// [`Invalid`] when it is none: also where the same JSON is written otherwise.
    pub fn read(text: &str) -> Result<Self, Invalid> {
        exact(text, Self::text)
    }
}

/// What a commit appends to the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LogEntry {
    /// A take was filed.
    Take(TakeEntry),
    /// A session was convened or changed.
    Session(Box<SessionEntry>),
    /// A member was changed.
    Member(MemberEntry),
    /// A memo was published or retracted.
    Memo(MemoEntry),
    /// A subject was created or replaced.
    Subject {
        /// Who wrote it.
        by: Actor,
        /// The subject.
        id: SubjectId,
        /// The digest of the record.
        digest: Digest,
    },
    /// A snapshot of a subject was added.
    #[serde(rename_all = "camelCase")]
    SubjectSnapshot {
        /// Who added it.
        by: Actor,
        /// The snapshot.
        id: SubjectSnapshotId,
        /// The subject.
        subject_id: SubjectId,
        /// The digest of the record.
        digest: Digest,
    },
    /// The regime of a day was recorded.
    Regime {
        /// Who recorded it.
        by: Actor,
        /// The day.
        date: Day,
        /// The digest of the record.
        digest: Digest,
    },
    /// A research signal was recorded.
    Signal {
        /// Who recorded it.
        by: Actor,
        /// What it is called.
        signal_key: String,
        /// Its day.
        date: Day,
        /// The digest of the record.
        digest: Digest,
    },
    /// An operator accepted the store in a condition that refuses commits.
    Operation(Operation),
    /// A day of the committee was changed.
    CommitteeDay(CommitteeDayEntry),
    /// A submission to the committee was filed.
    CommitteeTake(CommitteeTakeEntry),
}

impl LogEntry {
    /// The text of the entry without number and time, as stores keep it: a JSON object, without a
    /// line break.
    pub fn to_text(&self) -> String {
        write(self)
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// [`Invalid`] when it is none: also where the same JSON is written otherwise.
    pub fn from_text(text: &str) -> Result<Self, Invalid> {
        exact(text, Self::to_text)
    }

    /// The session that an operator or the schedule acted on.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Session(entry) => Some(entry.session.id),
            _ => None,
        }
    }
}

/// Reads a value, and checks that it is written as it was read.
fn exact<T: for<'de> Deserialize<'de>>(
    text: &str,
    write: impl Fn(&T) -> String,
) -> Result<T, Invalid> {
    let invalid = |why: String| Invalid::new("log entry", why);
    let value = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    if write(&value) == text {
        return Ok(value);
    }
    Err(invalid("must be the exact text of an entry".to_owned()))
}

/// A take that was filed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeEntry {
    /// The take.
    pub id: TakeId,
    /// Its session.
    pub session_id: SessionId,
    /// Its author.
    pub member_id: MemberId,
    /// Which of the author's takes in the session it is.
    pub revision: Revision,
    /// The digest of the canonical bytes that were signed.
    pub digest: Digest,
    /// The signature.
    pub signature: Signature,
    /// The key that verified it.
    pub public_key: PublicKey,
}

/// An act on a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// What was done.
    pub act: SessionAct,
    /// Who did it.
    pub by: Actor,
    /// What they say about it.
    pub note: Option<Note>,
    /// The session after it; of [`SessionAct::Withdrawn`], as it was last.
    pub session: LoggedSession,
    /// Of [`SessionAct::Excuse`]: who was excused, or expected again.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<Excuse>,
}

/// What was done to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionAct {
    /// It was convened.
    Convened,
    /// It moved to another state.
    State,
    /// Its deadline was moved, set or lifted.
    Deadline,
    /// Its quorum was changed, or nothing but a note was added.
    Quorum,
    /// Its roster was frozen.
    Roster,
    /// A listed member was excused, or is expected again.
    Excuse,
    /// Its brief was published.
    Brief,
    /// It was withdrawn: it is as if it had never been convened.
    Withdrawn,
}

/// A session in the log: its record, with digests in place of what may be long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedSession {
    /// Its id.
    pub id: SessionId,
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// How far it has come.
    pub state: SessionState,
    /// The last moment for takes, itself included; `None`: no deadline.
    pub window_closes_at: Option<Timestamp>,
    /// When it was convened.
    pub convened_at: Timestamp,
    /// The members that it needs.
    pub quorum: Option<u32>,
    /// The digest of its buckets, where it has any.
    pub buckets_digest: Option<Digest>,
    /// The digest of its roster, where it has one.
    pub roster_digest: Option<Digest>,
    /// When it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// The digest of its snapshot, once it is aggregated.
    pub snapshot_digest: Option<Digest>,
}

/// Who was excused, or is expected again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Excuse {
    /// The member.
    pub member_id: MemberId,
    /// Whether it is excused now.
    pub excused: bool,
}

/// An act on a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberEntry {
    /// What was done.
    pub act: MemberAct,
    /// The operator who did it; `None`: the member itself.
    pub by: Option<Actor>,
    /// The member.
    pub id: MemberId,
    /// Whether it is active after it.
    pub status: MemberStatus,
    /// Its key after it.
    pub public_key: Option<PublicKey>,
}

/// What was done to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberAct {
    /// It was activated.
    Activated,
    /// It was deactivated.
    Deactivated,
    /// It claimed its token.
    Claimed,
    /// Its token was revoked, so that it claims another.
    ClaimReset,
    /// It got another token, and perhaps another key.
    KeyRotated,
    /// Its name, contact, lens and memos were erased.
    Erased,
}

/// Whether a member is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberStatus {
    /// It may file takes.
    Active,
    /// It may not.
    Inactive,
}

/// An act on a memo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoEntry {
    /// What was done.
    pub act: MemoAct,
    /// The operator who did it; absent where its author did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// The memo.
    pub id: MemoId,
    /// Its author.
    pub member_id: MemberId,
    /// The digest of the record.
    pub digest: Digest,
}

/// What was done to a memo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoAct {
    /// Its author published it.
    Published,
    /// An operator retracted it.
    Retracted,
}

/// What an operator accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub enum Operation {
    /// The store's clock as it is, though it is behind the log.
    ClockAccepted {
        /// Who accepted it.
        by: Actor,
    },
    /// The store as it is, though its log went back. Another log begins with this entry.
    StoreAccepted {
        /// Who accepted it.
        by: Actor,
        /// The number of the log that begins.
        log: u64,
        /// The log before it.
        before: LogBefore,
    },
    /// The key that signs the log from now on, though another signed the last checkpoint.
    KeyAccepted {
        /// Who accepted it.
        by: Actor,
        /// The key, as a C2SP verifier key.
        #[serde(rename = "logKey")]
        log_key: String,
    },
}

/// A log that ended when an operator accepted the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogBefore {
    /// Its name, where it was signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The number of entries: of its last checkpoint, or when it was last seen if there is none.
    pub size: Seq,
    /// The root of its last checkpoint, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl LogBefore {
    /// A log without a checkpoint that had this number of entries when it was last seen.
    pub fn seen(size: Seq) -> Self {
        Self { origin: None, size, root: None }
    }
}

/// An act on a day of the committee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitteeDayEntry {
    /// What was done.
    pub act: DayAct,
    /// Who did it.
    pub by: Actor,
    /// The day.
    pub date: Day,
    /// Its subject after it.
    pub subject_id: Option<SubjectId>,
    /// The deadline of its briefs, where it has any.
    pub deadline_utc: Option<Timestamp>,
}

/// What was done to a day of the committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DayAct {
    /// Its briefs were generated.
    Generated,
    /// Its subject was set.
    Subject,
    /// Its synthesis was written.
    Synthesis,
    /// It was withdrawn.
    Withdrawn,
}

/// A submission to the committee that was filed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitteeTakeEntry {
    /// Its author.
    pub member_id: CommitteeMemberId,
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// The reference of the stored record.
    pub commit: Digest,
}
