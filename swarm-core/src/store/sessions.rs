//! Sessions.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{Day, Session, SessionId, SessionState, SubjectId};
use crate::rules::{Convocation, SessionChange};

/// The part of the port that keeps sessions.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// One session.
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>>;

    /// The sessions that match, by id, the highest first.
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>>;

    /// The sessions published last, the latest publication first; of those published at the same
    /// moment the highest id first. At most `limit`. When a session was published is written once
    /// and never changes.
    async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>>;

    /// Commits a new session: the next id, convened now by the store's clock, version 1, no
    /// snapshot.
    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>>;

    /// Writes a session, atomically, unless its version is no longer `change.expected`, the number
    /// of takes filed in it no longer `change.takes`, where that is given, or a take was filed in
    /// it after `change.none_filed_after`, where that is given.
    async fn save_session(&self, change: &SessionChange) -> Result<Saved>;
}

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
}

/// What became of a guarded write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Saved {
    /// It is committed.
    Saved,
    /// The facts have changed since they were judged: load and judge again.
    Stale,
}

impl Saved {
    /// `value`, if it is committed.
    pub fn committed<T>(self, value: T) -> Option<T> {
        match self {
            Self::Saved => Some(value),
            Self::Stale => None,
        }
    }
}
