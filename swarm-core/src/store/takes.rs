//! Takes: the heart of the port.

use std::sync::Arc;

use async_trait::async_trait;

use super::Result;
use crate::domain::{Day, Nonce, SessionId, SubjectId, Take, TakeId, TakeOnFile, TokenHash};
use crate::rules::{Basis, Filing};

/// The part of the port that keeps takes.
#[async_trait]
pub trait Takes: Send + Sync {
    /// All the facts that a submission is judged by, read together, in one round trip.
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<Basis>;

    /// Files a take, atomically and durably, in one round trip.
    ///
    /// To ensure correctness, check in this order and write nothing before the last check:
    /// 1. the member's nonce was spent by this very attempt: answer what it was answered then,
    ///    [`Filed::Filed`] (a client library may send a commit twice);
    /// 2. the versions of the member and of the session are those of the filing, and the session is
    ///    the newest (highest id) of [`Filing::newest_of`], or else [`Filed::Stale`];
    /// 3. the store's clock, read once and inside the commit's critical section (not while it waits
    ///    for its turn), is not past `commit_deadline`, or else [`Filed::Late`];
    /// 4. the member's nonce is unspent, or else [`Filed::NonceUsed`];
    /// 5. the filing's revision is the one after the member's latest in the session, or else
    ///    [`Filed::RevisionTaken`];
    /// 6. then record [`Filing::take`] with the next id and the time of 3, and spend the nonce,
    ///    for ever. The versions of the member and of the session do not change.
    async fn file(&self, filing: &Filing) -> Result<Filed>;

    /// One take, and the id of the revision after it.
    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>>;

    /// All takes of a session, every revision, in the order of their ids.
    async fn takes(&self, session: SessionId) -> Result<Vec<Arc<Take>>>;

    /// The takes that match and that no later revision supersedes: one of each member, in the order
    /// of their ids. A member that amends while they are read may be there with both.
    async fn latest_takes(&self, query: &TakeQuery) -> Result<Vec<Arc<Take>>>;
}

/// Which takes are asked for.
#[derive(Clone, Copy, Debug)]
pub struct TakeQuery {
    /// Those of this session.
    pub session: SessionId,
    /// Only those with a higher id; 0: all.
    pub after: TakeId,
    /// At most so many.
    pub limit: usize,
}

/// What is asked for in one go when a take comes in.
#[derive(Clone, Copy, Debug)]
pub struct BasisQuery<'a> {
    /// The hash of the bearer token that came with it.
    pub token: &'a TokenHash,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: &'a SubjectId,
    /// Its nonce.
    pub nonce: &'a Nonce,
}

/// What became of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Filed {
    /// It is committed: this is the take on file.
    Filed(Arc<Take>),
    /// The member or the session has changed since, or there is a newer session of its day and
    /// subject: load and judge again.
    Stale,
    /// The deadline passed before the commit.
    Late,
    /// The member has spent the nonce.
    NonceUsed,
    /// Another take became this revision first.
    RevisionTaken,
}
