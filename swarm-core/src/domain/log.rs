//! The log of public changes (API.md, 11).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::committee::CommitteeTake;
use super::json::Object;
use super::text::text;
use super::{Invalid, SessionId, Take, Timestamp, bounded};

/// The number of an entry in a tenant's log; consecutive from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

text!(
    /// The remark of an operator on a change, kept in the log permanently.
    Note, "note", 0..=500
);

/// The author of a change: the name of an operator's token, or the server itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(Cow<'static, str>);

impl Actor {
    /// The server itself, acting on its schedule.
    pub const SCHEDULE: Self = Self(Cow::Borrowed("schedule"));

    /// The operator of a tenant without named operators.
    pub const OPERATOR: Self = Self(Cow::Borrowed("operator"));

    /// The operator whose token has this name: 1 to 100 characters, and not `schedule`, which is
    /// reserved for the server itself.
    ///
    /// # Errors
    /// [`Invalid`] for any other name.
    pub fn operator(name: impl Into<String>) -> Result<Self, Invalid> {
        let name = bounded("name", name.into(), 1, 100)?;
        if name == Self::SCHEDULE.as_str() {
            return Err(Invalid::new("name", "must not be schedule"));
        }
        Ok(Self(Cow::Owned(name)))
    }

    /// The name in the log.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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

    /// A change by `by`, with the optional field `note` of the request.
    ///
    /// # Errors
    /// [`Invalid`] when the note is not a string of at most 500 characters.
    pub fn read(by: Actor, fields: &mut Object) -> Result<Self, Invalid> {
        let note = fields.text_if_any("note")?.map(Note::parse).transpose()?;
        Ok(Self { by, note })
    }
}

impl From<Actor> for Attribution {
    fn from(by: Actor) -> Self {
        Self { by, note: None }
    }
}

/// The log entry of a commit, made by the rules. It is opaque to a store, which appends it to the
/// tenant's log in the same commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    text: String,
    session: Option<SessionId>,
}

impl Act {
    /// An entry of this text, without its `seq` and `at`.
    pub fn new(text: String) -> Self {
        Self { text, session: None }
    }

    /// An entry of this text about a session that is on file.
    pub fn on(session: SessionId, text: String) -> Self {
        Self { text, session: Some(session) }
    }

    /// The text to store, byte for byte. It contains no line break.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The session that is acted on, where it has an id already. What convenes a session acts on
    /// the one that the commit gives an id.
    pub fn session(&self) -> Option<SessionId> {
        self.session
    }
}

/// A row of the log, as a store returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRow {
    /// Its number.
    pub seq: Seq,
    /// When it was committed, by the store's clock.
    pub at: Timestamp,
    /// What was committed.
    pub logged: Logged,
}

impl LogRow {
    /// Whether this row may change the public view of a session and its takes. A take changes only
    /// its own session; any other entry may change any session.
    pub fn may_change(&self, session: SessionId) -> bool {
        match &self.logged {
            Logged::Take(take) => take.session_id == session,
            Logged::CommitteeTake(_) => false,
            Logged::Act { .. } => true,
        }
    }
}

/// What was committed.
#[derive(Clone, Debug, PartialEq)]
pub enum Logged {
    /// A take. A store keeps only its id.
    Take(Arc<Take>),
    /// A submission to the committee. A store keeps only its key.
    CommitteeTake(Arc<CommitteeTake>),
    /// Anything else.
    Act {
        /// The text of the [`Act`].
        text: String,
        /// The id of a session or a document that the commit assigned, if any.
        minted: Option<u64>,
    },
}
