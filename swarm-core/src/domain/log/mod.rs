//! The log of public changes (API.md, 11).

mod entry;
mod take_entry;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::committee::CommitteeTake;
use super::form::{Described, Field, Form, FormSchema, form};
use super::json::Object;
use super::text::{Note, bounded};
use super::{Invalid, SessionId, StoredTake, Timestamp};

pub use entry::{
    CommitteeDayEntry, DayAct, EndorsedKey, Excuse, LogBefore, LogEntry, LogLine, LoggedSession,
    MemberAct, MemberEntry, MemberStatus, MemoAct, MemoEntry, Operation, SessionAct, SessionEntry,
};
pub use take_entry::{
    CommitteeTakeEntry, OpeningEntry, TakeContent, TakeEntry, TakeMarkAct, TakeMarkEntry,
};

/// The number of an entry in a tenant's log; consecutive from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The author of a change: the name of an operator's token, or the server itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(Cow<'static, str>);

impl Actor {
    /// The server itself, acting on its schedule.
    pub const SCHEDULE: Self = Self(Cow::Borrowed("schedule"));

    /// The operator of a tenant without named operators.
    pub const OPERATOR: Self = Self(Cow::Borrowed("operator"));

    /// A member, acting on itself.
    pub const MEMBER: Self = Self(Cow::Borrowed("member"));

    /// Returns the operator whose token has this name: 1 to 100 characters, and neither `schedule`, which is reserved for
    /// the server itself, nor `member`.
    ///
    /// # Errors
    /// [`Invalid`] for any other name.
    pub fn operator(name: impl Into<String>) -> Result<Self, Invalid> {
        let name = bounded("name", name.into(), 1, 100)?;
        if name == Self::SCHEDULE.as_str() {
            return Err(Invalid::new("name", "must not be schedule"));
        }
        if name == Self::MEMBER.as_str() {
            return Err(Invalid::new("name", "must not be member"));
        }
        Ok(Self(Cow::Owned(name)))
    }

    /// Returns the name in the log.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Actor {
    type Err = Invalid;

    /// Reads the name of an operator, `schedule` or `member`.
    fn from_str(name: &str) -> Result<Self, Invalid> {
        match name {
            _ if name == Self::SCHEDULE.as_str() => Ok(Self::SCHEDULE),
            _ if name == Self::MEMBER.as_str() => Ok(Self::MEMBER),
            name => Self::operator(name),
        }
    }
}

super::parsed::deserialized!(Actor);

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The author of a change, with an optional note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// The author.
    pub by: Actor,
    /// The note.
    pub note: Option<Note>,
}

impl Attribution {
    /// A change by the schedule.
    pub const SCHEDULE: Self = Self { by: Actor::SCHEDULE, note: None };
}

/// A request of an operator with a note on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Noted<T> {
    /// The note. It is read first.
    pub note: Option<Note>,
    /// The request.
    #[serde(flatten)]
    pub request: T,
}

impl<T> From<T> for Noted<T> {
    fn from(request: T) -> Self {
        Self { note: None, request }
    }
}

impl<T: Form> Form for Noted<T> {
    fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self { note: Field::of(fields, "note")?, request: T::read(fields)? })
    }
}

impl<T: Described> Described for Noted<T> {
    const NAME: &'static str = T::NAME;
    const TOPIC: &'static str = T::TOPIC;

    fn describe(schema: &mut FormSchema) {
        T::describe(schema);
        schema.add::<Option<Note>>("note", "");
    }
}

form! {
    /// A request of an operator that has no field but its note.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct NoteAlone "Noted" in "sessions" {
        /// The note.
        pub note: Option<Note> = "note",
    }
    example r#"{"note": "Convened by mistake."}"#;
}

impl From<Actor> for Attribution {
    fn from(by: Actor) -> Self {
        Self { by, note: None }
    }
}

/// A row of the log, as a store returns it: what was committed, with its number and time.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRow {
    /// The number of the row.
    pub seq: Seq,
    /// When the row was committed, by the store's clock.
    pub at: Timestamp,
    /// What was committed.
    pub logged: Logged,
}

impl LogRow {
    /// Returns whether this row may change the public view of a session and its takes. A take
    /// changes only its own session; any other entry may change any session.
    pub fn may_change(&self, session: SessionId) -> bool {
        match &self.logged {
            Logged::Take(take) => take.session_id() == session,
            Logged::CommitteeTake(_) => false,
            Logged::TakeMark(..) | Logged::Entry(_) => true,
        }
    }
}

/// The change that a row of the log records.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Logged {
    /// A take. A store keeps a reference to it; the entry is computed from the take.
    Take(StoredTake),
    /// A submission to the committee, kept as a reference too.
    CommitteeTake(Arc<CommitteeTake>),
    /// An act on the texts of a take: the entry, with the session of the take.
    TakeMark(SessionId, Arc<LogEntry>),
    /// Any other commit: the entry itself.
    Entry(Arc<LogEntry>),
}
