//! The part of the port for sessions.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{Day, Session, SessionId, SessionState, SubjectId};
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

    /// The `limit` most recently published sessions, latest first; those published at the same time
    /// by id in descending order. The time of publication is written once and never changes.
    async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>>;

    /// Commits a new session with the next id, the time by the store's clock, version 1, and
    /// without a snapshot. A convocation has no attempt: one that is sent again after a lost answer
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
    /// was filed in it after `change.none_filed_after`, if given.
    ///
    /// If `change.withdrawn`, removes the session instead. To ensure correctness:
    /// - no read finds it any longer, no list and no count has it, and takes of its day and subject
    ///   go to the newest session that is left there;
    /// - its id is not given to another session, and the acts on it stay in the log.
    async fn save_session(&self, change: &SessionChange) -> Result<Saved>;

    /// Aggregates a session: reads it and all of its takes, has [`Aggregation::judge`] judge them,
    /// and commits the change; answers the session as it then is, or what the rules say against it.
    ///
    /// To ensure correctness, let no take be filed in the session between the read of its takes and
    /// the commit. To ensure that it ends, do not merely look again whether one was: takes may arrive
    /// faster than they can be read. Where takes are held back meanwhile, they are held for a time
    /// that ends by itself, and go on being filed after it.
    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated>;
}

/// What came of an aggregation.
pub type Aggregated = std::result::Result<Arc<Session>, Refusal>;

/// Which sessions are asked for.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Only those of this day and subject.
    pub on: Option<(Day, SubjectId)>,
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those with a lower id.
    pub before: Option<SessionId>,
    /// At most so many.
    pub limit: usize,
    /// Whether to leave their snapshots out, which may be long: a store hardly reads them then.
    pub without_snapshots: bool,
}

/// The outcome of a guarded write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Saved {
    /// It is committed.
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
