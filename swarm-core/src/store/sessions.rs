//! The part of the port for sessions.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{Day, Session, SessionId, SessionState, SubjectId};
use crate::rules::{Convocation, SessionChange};

/// Sessions.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// A session.
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>>;

    /// The sessions that match, by id, the highest first.
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>>;

    /// The `limit` most recently published sessions, latest first; those published at the same time
    /// by id in descending order. The time of publication is written once and never changes.
    async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>>;

    /// Commits a new session with the next id, the time by the store's clock, version 1, and
    /// without a snapshot.
    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>>;

    /// Writes a session, atomically. Returns [`Saved::Stale`] unless its stored version is
    /// `change.expected`, the number of takes filed in it is `change.takes`, if given, and no take
    /// was filed in it after `change.none_filed_after`, if given.
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
