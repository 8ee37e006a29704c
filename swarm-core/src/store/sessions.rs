//! The part of the port for sessions.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{Day, Session, SessionId, SessionState, SessionSummary, SubjectId};
use crate::rules::{Aggregation, Convocation, Refusal, SessionChange};

#[cfg(doc)]
use super::DocumentDraft;

/// Sessions.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// A session.
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>>;

    /// The sessions that match, by id, the highest first; all at one position of the log.
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>>;

    /// Summaries of the sessions that match, by id, all at one position of the log: the highest id first, or
    /// the lowest if [`SummaryQuery::after`] is given. A store should use an index, and not read the parts of
    /// rosters and snapshots that summaries omit: they may be long.
    async fn session_summaries(&self, query: &SummaryQuery) -> Result<Vec<Arc<SessionSummary>>>;

    /// Summaries of the `limit` most recently published sessions that [count](Session::counts), latest first; those
    /// published at the same time by id in descending order. The time of publication is written once and never changes.
    async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>>;

    /// Commits a new session with the next id, the time by the store's clock, version 1, and
    /// without a snapshot. A convocation has no attempt: a caller that repeats one after an error
    /// may convene another session.
    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>>;

    /// Convenes a session like [`convene`](Self::convene), but once for an occasion, which is any text that is
    /// not empty. The same commit writes a [document](DocumentDraft::of_occasion) that claims the occasion.
    /// `None`, with nothing written, when it is claimed already.
    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>>;

    /// Writes a session, atomically. Returns [`Saved::Stale`] unless its stored version is
    /// `change.expected`, the number of takes filed in it is `change.takes`, if given, and no take
    /// was filed in it after `change.none_filed_after`, if given. A store need not write a snapshot again that
    /// stays the same: it may be long.
    ///
    /// Appends `change.acts` to the log, in order. If `change.opens`, appends an entry that opens each take of
    /// the session after them, in the order of the ids of the takes. To ensure correctness, these are all
    /// takes that are filed in the session at that moment. A store need not keep the text of such an entry: it
    /// is the [`opening_entry`](crate::proof::opening_entry) of the take.
    ///
    /// If `change.withdrawn`, removes the session instead. To ensure correctness:
    /// - no read, list or count contains it any longer, and takes of its day and subject go to the
    ///   newest session that remains;
    /// - its id is not given to another session, and the acts on it stay in the log.
    async fn save_session(&self, change: &SessionChange) -> Result<Saved>;

    /// Aggregates a session: reads it and all of its takes, has [`Aggregation::judge`] judge them,
    /// and commits the change; returns the session after the commit, or the refusal of the rules.
    /// To ensure correctness, let no take be filed in the session between the read of its takes and the commit, or
    /// guard the commit by their number. To ensure that it ends, do not retry until no take was filed meanwhile: takes
    /// may arrive faster than they can be read. If takes are held back, the hold must end, and those takes must then be
    /// filed.
    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated>;
}

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
    /// Whether to leave out their snapshots, which may be long. A store should then not decode them.
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
