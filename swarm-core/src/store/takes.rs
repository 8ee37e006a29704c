//! Takes: queries, answers and outcomes.

use std::sync::Arc;

use super::Versioned;
use crate::domain::{
    Day, MemberId, Nonce, Seq, Session, SessionId, SessionSummary, StoredTake, SubjectId, Take,
    TakeId, TokenHash,
};

/// A filter for takes of one member.
#[derive(Clone, Debug)]
pub struct MemberTakeQuery {
    /// The member whose takes are read.
    pub member: MemberId,
    /// Only those in sessions with a lower id.
    pub before: Option<SessionId>,
    /// The maximum number of results.
    pub limit: usize,
}

/// A take of a member, and its session.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberTake<T = StoredTake> {
    /// The take.
    pub take: T,
    /// What lists show of its session.
    pub session: Arc<SessionSummary>,
    /// Whether the roster of the session lists the member and does not excuse it.
    pub expected: bool,
}

/// A filter for takes of one session.
#[derive(Clone, Copy, Debug)]
pub struct TakeQuery {
    /// The session whose takes are read.
    pub session: SessionId,
    /// The revisions that are read of each member.
    pub revisions: Revisions,
    /// Only those with a higher id; 0: all.
    pub after: TakeId,
    /// The maximum number of results.
    pub limit: usize,
    /// Whether takes are read whole although their session is sealed: for their author, and for the commit that opens the
    /// session.
    pub unsealed: bool,
}

impl TakeQuery {
    /// All takes of a session, every revision.
    pub fn all(session: SessionId) -> Self {
        let (revisions, after, limit) = (Revisions::All, TakeId(0), usize::MAX);
        Self { session, revisions, after, limit, unsealed: false }
    }

    /// The latest take of each member in a session.
    pub fn latest(session: SessionId) -> Self {
        Self { revisions: Revisions::Latest, ..Self::all(session) }
    }
}

/// A filter for revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisions {
    /// Every revision.
    All,
    /// The revisions that no later one supersedes: one of each member.
    Latest,
}

/// A session and takes in it, at one position of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionTakes {
    /// The session.
    pub session: Versioned<Session>,
    /// The takes, in the order of their ids.
    pub takes: Vec<StoredTake>,
}

/// A session and the members that filed in it, at one position of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionAuthors {
    /// The session.
    pub session: Versioned<Session>,
    /// The members, in the order of their latest takes.
    pub authors: Vec<MemberId>,
}

/// A take among those of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeContext<T = StoredTake> {
    /// All revisions of its member in the session, the take included, by revision.
    pub revisions: Vec<T>,
    /// The nearest take of another member that was filed before it, of those that are not superseded.
    pub previous: Option<T>,
    /// The nearest one that was filed after it.
    pub next: Option<T>,
}

impl TakeContext {
    /// Returns the context of the take with this id, from its revisions and its neighbours in any
    /// order; `None` unless the take is among them.
    pub fn of(id: TakeId, mut takes: Vec<StoredTake>) -> Option<Self> {
        takes.sort_unstable_by_key(StoredTake::id);
        let take = takes.iter().find(|take| take.id() == id)?;
        let member = take.member_id().clone();
        let is_own = |take: &StoredTake| *take.member_id() == member;
        let (revisions, others): (Vec<_>, Vec<_>) = takes.into_iter().partition(is_own);
        let previous = others.iter().rfind(|other| other.id() < id).cloned();
        let next = others.iter().find(|other| other.id() > id).cloned();
        Some(Self { revisions, previous, next })
    }
}

/// The member that calls: known by its bearer token, or by a host that has authenticated it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Caller<'a> {
    /// The member whose bearer token has this hash.
    Bearer(&'a TokenHash),
    /// The member with this id. The program that embeds the core has authenticated it, by whatever means it has.
    Authenticated(&'a MemberId),
}

impl<'a> From<&'a TokenHash> for Caller<'a> {
    fn from(token: &'a TokenHash) -> Self {
        Self::Bearer(token)
    }
}

/// The keys of the facts that a submission is judged on.
#[derive(Clone, Copy, Debug)]
pub struct BasisQuery<'a> {
    /// The member that submits.
    pub caller: Caller<'a>,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: &'a SubjectId,
    /// The nonce.
    pub nonce: &'a Nonce,
}

/// The outcome of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Filed {
    /// The filing is committed: this is the stored take, and the number of its entry in the log, if this very commit made it.
    Filed(Arc<Take>, Option<Seq>),
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
