//! The part of the port for takes.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Result, Versioned};
use crate::domain::{
    Day, Nonce, Session, SessionId, SubjectId, Take, TakeId, TakeOnFile, TokenHash,
};
use crate::rules::{Basis, Filing};

/// Takes.
#[async_trait]
pub trait Takes: Send + Sync {
    /// The facts that a submission is judged on, read in one round trip. [`Basis::now`] is not
    /// earlier than any commit that the other facts show: see
    /// [`time_of_read`](super::time_of_read). The read fails if the log does not continue from the
    /// position seen ([`LogPosition::check_facts`](super::LogPosition::check_facts)).
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis>;

    /// Files a take, atomically and durably, in one round trip.
    ///
    /// To ensure correctness, check in this order and write nothing before the last check, after
    /// that of the log ([`LogPosition::check_commit`](super::LogPosition::check_commit)):
    /// 1. if the member's nonce was used by this attempt (a client library may send a commit
    ///    twice), return the same result as then, [`Filed::Filed`];
    /// 2. unless the versions of the member and of the session are those of the filing, and the
    ///    session is the newest (highest id) of [`Filing::newest_of`], return [`Filed::Stale`];
    /// 3. read the store's clock, once and inside the critical section of the commit (not while it
    ///    waits for a lock); if it is past `commit_deadline`, return [`Filed::Late`];
    /// 4. if the member has used the nonce, return [`Filed::NonceUsed`];
    /// 5. unless the filing's revision is the one after the member's latest in the session, return
    ///    [`Filed::RevisionTaken`];
    /// 6. record [`Filing::take`] with the next id and the time of step 3, and the nonce as used.
    ///    The versions of the member and of the session do not change.
    async fn file(&self, filing: &Filing) -> Result<Filed>;

    /// A take, and the id of the revision that superseded it.
    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>>;

    /// A session and the takes in it that match, in the order of their ids; `None` when there is no
    /// such session.
    ///
    /// To ensure correctness, read both at one position of the log, however many takes there are: a
    /// commit made meanwhile shows in all of the answer or in none of it.
    async fn session_takes(&self, query: &TakeQuery) -> Result<Option<SessionTakes>>;
}

/// Which takes are asked for.
#[derive(Clone, Copy, Debug)]
pub struct TakeQuery {
    /// Those of this session.
    pub session: SessionId,
    /// Which revisions of each member.
    pub revisions: Revisions,
    /// Only those with a higher id; 0: all.
    pub after: TakeId,
    /// The maximum number of results.
    pub limit: usize,
}

impl TakeQuery {
    /// All takes of a session, every revision.
    pub fn all(session: SessionId) -> Self {
        Self { session, revisions: Revisions::All, after: TakeId(0), limit: usize::MAX }
    }

    /// The latest take of each member in a session.
    pub fn latest(session: SessionId) -> Self {
        Self { revisions: Revisions::Latest, ..Self::all(session) }
    }
}

/// Which revisions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisions {
    /// Every revision.
    All,
    /// Those that no later revision supersedes: one of each member.
    Latest,
}

/// A session and takes in it, at one position of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionTakes {
    /// The session.
    pub session: Versioned<Session>,
    /// The takes, in the order of their ids.
    pub takes: Vec<Arc<Take>>,
}

/// The keys of the facts that a submission is judged on.
#[derive(Clone, Copy, Debug)]
pub struct BasisQuery<'a> {
    /// The hash of its bearer token.
    pub token: &'a TokenHash,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: &'a SubjectId,
    /// Its nonce.
    pub nonce: &'a Nonce,
}

/// The outcome of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Filed {
    /// It is committed: this is the stored take.
    Filed(Arc<Take>),
    /// The member or the session has changed since, or there is a newer session of the day and
    /// subject: load and judge again.
    Stale,
    /// The deadline passed before the commit.
    Late,
    /// The member has used the nonce.
    NonceUsed,
    /// Another take became this revision first.
    RevisionTaken,
}
