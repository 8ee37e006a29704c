//! The entries of the log (API.md, 11.2).
//!
//! The exact text of an entry is a pure function of its record. Anyone who has the record computes
//! the same bytes, and proofs of the log are over these bytes. [`LogLine::text`] writes
//! it, with the fields in the order of these types, and nothing else in the workspace does.

use serde::de::value::{BorrowedStrDeserializer, Error as ValueError};
use serde::{Deserialize, Serialize};

use super::take_entry::{CommitteeTakeEntry, OpeningEntry, TakeEntry, TakeMarkAct, TakeMarkEntry};
use super::{Actor, Attribution, Seq};
use crate::domain::json::write;
use crate::domain::{
    Day, Declaration, Digest, Invalid, MemberId, MemoId, Note, Outcome, PublicKey, Question,
    SessionId, SessionState, Signature, SubjectId, SubjectSnapshotId, Timestamp, Voided,
};

/// An entry with its number and time: a line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The number.
    pub seq: Seq,
    /// The time of the commit, by the store's clock.
    pub at: Timestamp,
    /// The entry.
    #[serde(flatten)]
    pub entry: LogEntry,
}

impl LogLine {
    /// Returns the exact text: a JSON object, without a line break.
    pub fn text(&self) -> String {
        write(self)
    }

    /// Reads the exact text of a line.
    ///
    /// # Errors
    /// [`Invalid`] when the text is not a line, or is the JSON of one in another spelling.
    pub fn read(text: &str) -> Result<Self, Invalid> {
        exact(text, Self::text)
    }
}

/// What a commit appends to the log. A digest is of the UTF-8 bytes of the JSON text that the service gave for the thing at that
/// moment; of a take, of its canonical text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogEntry {
    /// A take was filed. Of a sealed one the log has the seal until an opening follows.
    Take(TakeEntry),
    /// A sealed take was opened.
    Opening(OpeningEntry),
    /// A session was convened or changed.
    Session(Box<SessionEntry>),
    /// A member was changed.
    Member(MemberEntry),
    /// Body and memoUrl of a take were withheld from the public, or are shown again.
    TakeMark(TakeMarkEntry),
    /// A memo was published or retracted.
    Memo(MemoEntry),
    /// A subject was created or replaced.
    Subject {
        /// Who wrote it: the name of the operator's token, or schedule.
        by: Actor,
        /// The subject.
        id: SubjectId,
        /// The digest of the record.
        digest: Digest,
    },
    /// A snapshot of a subject was added.
    #[serde(rename_all = "camelCase")]
    SubjectSnapshot {
        /// Who added it: the name of the operator's token, or schedule.
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
        /// Who recorded it: the name of the operator's token, or schedule.
        by: Actor,
        /// The day.
        date: Day,
        /// The digest of the record.
        digest: Digest,
    },
    /// A research signal was recorded.
    Signal {
        /// Who recorded it: the name of the operator's token, or schedule.
        by: Actor,
        /// The name of the signal.
        #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
        signal_key: String,
        /// The day.
        date: Day,
        /// The digest of the record.
        digest: Digest,
    },
    /// An operator accepted the store, its clock or a key, so that the service goes on.
    Operation(Operation),
    /// A day of the committee was changed.
    CommitteeDay(CommitteeDayEntry),
    /// A submission to the committee was filed.
    CommitteeTake(CommitteeTakeEntry),
}

impl LogEntry {
    /// The names of all kinds.
    pub const KINDS: [&str; 13] = [
        "take",
        "take-mark",
        "opening",
        "session",
        "member",
        "memo",
        "subject",
        "subject-snapshot",
        "regime",
        "signal",
        "operation",
        "committee-day",
        "committee-take",
    ];

    /// The [event](Self::event) of a take that is filed.
    #[cfg(feature = "service")]
    pub(crate) const TAKE_FILED: &str = "take.filed";

    /// The [event](Self::event) of a submission to the committee that is filed.
    #[cfg(all(feature = "service", feature = "committee"))]
    pub(crate) const COMMITTEE_TAKE_FILED: &str = "committee-take.filed";

    /// Returns the name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Take(_) => "take",
            Self::TakeMark(_) => "take-mark",
            Self::Opening(_) => "opening",
            Self::Session(_) => "session",
            Self::Member(_) => "member",
            Self::Memo(_) => "memo",
            Self::Subject { .. } => "subject",
            Self::SubjectSnapshot { .. } => "subject-snapshot",
            Self::Regime { .. } => "regime",
            Self::Signal { .. } => "signal",
            Self::Operation(_) => "operation",
            Self::CommitteeDay(_) => "committee-day",
            Self::CommitteeTake(_) => "committee-take",
        }
    }

    /// Returns who did what the entry says, where the entry names them.
    pub fn by(&self) -> Option<&Actor> {
        match self {
            Self::Take(_) | Self::Opening(_) | Self::CommitteeTake(_) => None,
            Self::TakeMark(entry) => Some(&entry.by),
            Self::Session(entry) => Some(&entry.by),
            Self::Member(entry) => entry.by.as_ref(),
            Self::Memo(entry) => entry.by.as_ref(),
            Self::CommitteeDay(entry) => Some(&entry.by),
            Self::Subject { by, .. }
            | Self::SubjectSnapshot { by, .. }
            | Self::Regime { by, .. }
            | Self::Signal { by, .. }
            | Self::Operation(
                Operation::ClockAccepted { by }
                | Operation::StoreAccepted { by, .. }
                | Operation::KeyAccepted { by, .. },
            ) => Some(by),
        }
    }

    /// Returns the name of the event: the kind, and the act after a dot if the entry has one. A take is filed.
    pub fn event(&self) -> String {
        let kind = self.kind();
        let act = match self {
            Self::Take(_) | Self::CommitteeTake(_) => return format!("{kind}.filed"),
            Self::Session(entry) => write(&entry.act),
            Self::TakeMark(entry) => write(&entry.act),
            Self::Member(entry) => write(&entry.act),
            Self::Memo(entry) => write(&entry.act),
            Self::CommitteeDay(entry) => write(&entry.act),
            Self::Operation(Operation::ClockAccepted { .. }) => {
                return format!("{kind}.clock-accepted");
            }
            Self::Operation(Operation::StoreAccepted { .. }) => {
                return format!("{kind}.store-accepted");
            }
            Self::Operation(Operation::KeyAccepted { .. }) => {
                return format!("{kind}.key-accepted");
            }
            _ => return kind.to_owned(),
        };
        format!("{kind}.{}", act.trim_matches('"'))
    }

    /// Returns whether an entry may have this [event](Self::event).
    pub fn is_event(name: &str) -> bool {
        let Some((kind, act)) = name.split_once('.') else {
            return ["opening", "subject", "subject-snapshot", "regime", "signal"].contains(&name);
        };
        match kind {
            "take" | "committee-take" => act == "filed",
            "session" => is_one_of::<SessionAct>(act),
            "take-mark" => is_one_of::<TakeMarkAct>(act),
            "member" => is_one_of::<MemberAct>(act),
            "memo" => is_one_of::<MemoAct>(act),
            "committee-day" => is_one_of::<DayAct>(act),
            "operation" => ["clock-accepted", "store-accepted", "key-accepted"].contains(&act),
            _ => false,
        }
    }

    /// Returns the text of the entry without number and time, as stores keep it: a JSON object,
    /// without a line break.
    pub fn to_text(&self) -> String {
        write(self)
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// [`Invalid`] when the text is not an entry, or is the JSON of one in another spelling.
    pub fn from_text(text: &str) -> Result<Self, Invalid> {
        exact(text, Self::to_text)
    }

    /// Returns the entry with what its commit assigned in place of zeros: a number, which is the id of the record or the
    /// number of a log, and the time.
    #[cfg(feature = "service")]
    #[must_use]
    pub(crate) fn assigned(mut self, number: u64, at: Timestamp) -> Self {
        match &mut self {
            Self::Session(entry) => {
                entry.session.id = SessionId(number);
                entry.session.convened_at = at;
            }
            Self::Memo(entry) => entry.id = MemoId(number),
            Self::SubjectSnapshot { id, .. } => *id = SubjectSnapshotId(number),
            Self::Operation(Operation::StoreAccepted { log, .. }) => *log = number,
            _ => {}
        }
        self
    }

    /// Returns the session that an operator or the schedule acted on.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Session(entry) => Some(entry.session.id),
            _ => None,
        }
    }
}

/// Parses a value, and checks that writing it gives the same text.
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

/// An act on a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct SessionEntry {
    /// The number of this act among the acts on the session: 1 is the convening.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub version: u64,
    /// What was done.
    pub act: SessionAct,
    /// Who did it: the name of the operator's token, or schedule.
    pub by: Actor,
    /// Their remark.
    pub note: Option<Note>,
    /// The session after the act; of a withdrawn one, its last record.
    pub session: LoggedSession,
    /// Of the act that aggregates the session: the number of takes on file, counting all revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<u64>,
    /// Of the act `excuse`: the member that was excused, or is expected again.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<Excuse>,
}

impl SessionEntry {
    /// An act on a session, which is this one after the act. Neither a number of takes nor an excuse belongs to it.
    pub fn new(version: u64, act: SessionAct, by: &Attribution, session: LoggedSession) -> Self {
        let Attribution { by, note } = by.clone();
        Self { version, act, by, note, session, takes: None, excuse: None }
    }

    /// Returns whether the act aggregates the session.
    pub fn aggregates(&self) -> bool {
        self.act == SessionAct::State && self.session.state == SessionState::Aggregated
    }
}

/// What was done to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SessionAct {
    /// The session was convened.
    Convened,
    /// The session moved to another state.
    State,
    /// Its deadline was moved, set or lifted.
    Deadline,
    /// Its quorum was changed, or nothing but a note was added.
    Quorum,
    /// Its roster was frozen.
    Roster,
    /// A listed member was excused, or is expected again.
    Excuse,
    /// Its question was changed, or how its outcome is determined.
    Question,
    /// Its brief was published.
    Brief,
    /// The session was withdrawn: removed, as if it had never been convened.
    Withdrawn,
    /// The session was blind, and its takes were opened. An entry for each of them follows.
    Opened,
    /// The session was voided: it counts for nothing from then on.
    Void,
    /// Its outcome was recorded, or replaced.
    Outcome,
}

/// A session in the log: its record, with digests in place of what may be long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedSession {
    /// The id.
    pub id: SessionId,
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The state.
    pub state: SessionState,
    /// The last moment for takes, itself included; `None`: no deadline.
    pub window_closes_at: Option<Timestamp>,
    /// The time when the session was convened.
    pub convened_at: Timestamp,
    /// The number of members required for a quorum.
    pub quorum: Option<u32>,
    /// The digest of its buckets, if it has any.
    pub buckets_digest: Option<Digest>,
    /// The digest of its roster, if it has one.
    pub roster_digest: Option<Digest>,
    /// Whether the session is blind; omitted on the wire if it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
    /// Whether the session is for practice; omitted on the wire if it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub practice: bool,
    /// Whether the server aggregates and publishes it by itself; omitted on the wire if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finish: bool,
    /// What its takes are about, and how its outcome is determined.
    #[serde(flatten)]
    pub question: Question,
    /// Its own stances, number of revisions and method of aggregation.
    #[serde(flatten)]
    pub declaration: Declaration,
    /// The time when the session was opened, if it is blind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// The time when the session was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The mark that it counts for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<Voided>,
    /// The digest of its snapshot, once it is aggregated.
    pub snapshot_digest: Option<Digest>,
}

/// Returns whether this is the name of one of the acts.
fn is_one_of<'a, A: Deserialize<'a>>(name: &'a str) -> bool {
    A::deserialize(BorrowedStrDeserializer::<ValueError>::new(name)).is_ok()
}

/// The member that was excused, or is expected again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Excuse {
    /// The member.
    pub member_id: MemberId,
    /// Whether the member is excused now.
    pub excused: bool,
}

/// An act on a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemberEntry {
    /// What was done.
    pub act: MemberAct,
    /// Who did it: the name of the operator's token, or member; `None` stands for the member too, in claims of older logs.
    pub by: Option<Actor>,
    /// The member.
    pub id: MemberId,
    /// Whether the member is active after the act.
    pub status: MemberStatus,
    /// Its key after the act.
    pub public_key: Option<PublicKey>,
    /// For a key that the member replaced itself: the key before, which endorsed it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub endorsed: Option<EndorsedKey>,
}

impl MemberEntry {
    /// An act on a member by somebody else, or by the member without an endorsement.
    pub fn new(
        act: MemberAct,
        by: Option<Actor>,
        (id, status): (MemberId, MemberStatus),
        public_key: Option<PublicKey>,
    ) -> Self {
        Self { act, by, id, status, public_key, endorsed: None }
    }
}

/// The key that a member replaced, and its signature of the new one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndorsedKey {
    /// The key before, where the member replaced it itself.
    pub replaces: PublicKey,
    /// The signature by the key before, over the canonical text of {memberId, publicKey, replaces}.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub endorsement: Signature,
}

/// What was done to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MemberAct {
    /// The member was activated.
    Activated,
    /// The embedding program made it a member, active at once.
    Enrolled,
    /// An operator changed its name, its contact or its lens.
    Updated,
    /// The member was deactivated.
    Deactivated,
    /// The member claimed its token.
    Claimed,
    /// Its token was revoked. It may claim another.
    ClaimReset,
    /// The member got another token, and possibly another key.
    KeyRotated,
    /// Its name, contact, lens and memos were erased.
    Erased,
}

/// Whether a member is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum MemberStatus {
    /// The member may file takes.
    Active,
    /// The member may not file takes.
    Inactive,
}

/// An act on a memo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemoEntry {
    /// What was done.
    pub act: MemoAct,
    /// The name of the token of the operator who did it; absent if its author did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// The memo.
    pub id: MemoId,
    /// The author.
    pub member_id: MemberId,
    /// The digest of the record.
    pub digest: Digest,
}

/// What was done to a memo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MemoAct {
    /// Its author published it.
    Published,
    /// An operator retracted it.
    Retracted,
}

/// What an operator accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(tag = "act", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operation {
    /// An operator accepted the store's clock, although it is behind the log.
    ClockAccepted {
        /// The name of the operator's token.
        by: Actor,
    },
    /// An operator accepted the store, although its log went back. A new log begins with this entry.
    StoreAccepted {
        /// The name of the operator's token.
        by: Actor,
        /// The number of the log that begins.
        #[cfg_attr(feature = "schema", schemars(range(min = 2)))]
        log: u64,
        /// The log before it.
        before: LogBefore,
    },
    /// An operator accepted the key that signs the log from now on, though another signed the last checkpoint.
    KeyAccepted {
        /// The name of the operator's token.
        by: Actor,
        /// The key that signs the log from now on, as a C2SP verifier key.
        #[serde(rename = "logKey")]
        log_key: String,
    },
}

/// A log that ended when an operator accepted the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogBefore {
    /// The name of the log, if it was signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The number of entries at its last checkpoint; without a checkpoint, when it was last seen.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct CommitteeDayEntry {
    /// What was done.
    pub act: DayAct,
    /// Who did it: the name of the operator's token, or schedule.
    pub by: Actor,
    /// The day.
    pub date: Day,
    /// Its subject after the act.
    pub subject_id: Option<SubjectId>,
    /// The deadline of its briefs, if there are any.
    pub deadline_utc: Option<Timestamp>,
}

/// What was done to a day of the committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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
