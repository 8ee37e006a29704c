//! Sessions: queries, and outcomes.

use std::sync::Arc;

use crate::domain::{Day, Session, SessionId, SessionState, SubjectId};
use crate::rules::Refusal;

/// The outcome of an aggregation.
pub type Aggregated = std::result::Result<Arc<Session>, Refusal>;

/// A filter for sessions. All of its conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Only those of this day and subject.
    pub on: Option<(Day, SubjectId)>,
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those with a lower id.
    pub before: Option<SessionId>,
    /// The maximum number of results.
    pub limit: usize,
    /// Whether to leave out their snapshots, which may be long.
    pub without_snapshots: bool,
}

/// A filter for summaries of sessions. All of its conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct SummaryQuery {
    /// The list that they are taken from.
    pub list: SessionList,
    /// Only those of sessions with a lower id.
    pub before: Option<SessionId>,
    /// Only those of sessions with a higher id. The lowest ids come first then.
    pub after: Option<SessionId>,
    /// The maximum number of results.
    pub limit: usize,
}

/// A list of sessions for which a store has an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionList {
    /// All sessions.
    #[default]
    All,
    /// The sessions in this state.
    InState(SessionState),
    /// The sessions about this subject.
    About(SubjectId),
}

/// The outcome of a guarded write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Saved {
    /// The change is committed.
    Saved,
    /// The facts have changed since they were judged: load and judge again.
    Stale,
}

impl Saved {
    /// `Some(value)` if the write is committed.
    pub fn committed<T>(self, value: T) -> Option<T> {
        match self {
            Self::Saved => Some(value),
            Self::Stale => None,
        }
    }
}
