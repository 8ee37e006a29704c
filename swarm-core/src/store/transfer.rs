//! The part of the port that moves tenants to another store: dump and restore.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Collection, Document, Result};
use crate::domain::committee::{CommitteeBrief, CommitteeDay, CommitteeMember};
use crate::domain::{
    AttemptId, Day, LogRow, Member, Message, MessageId, Seq, Session, SessionId, TenantId,
};

/// A store whose tenants can be moved to another store. Implementing it is optional.
///
/// It is no part of [`Store`](super::Store), so no [`Interceptor`](super::Interceptor) sees it, and
/// a store behind one cannot be restored into.
#[async_trait]
pub trait Transfer: Send + Sync {
    /// The tenants that have records other than challenges, by id.
    async fn tenants(&self) -> Result<Vec<TenantId>>;

    /// Begins to read all records of a tenant as of now: later commits do not show.
    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>>;

    /// Begins to write the records of tenants that have none. Nothing of them can be read before the
    /// commit.
    async fn restore(&self) -> Result<Box<dyn Restore>>;

    /// Removes everything of a tenant: its records, its log and its members' names. There is no way back but a dump. Serve it no more
    /// before: what is committed meanwhile may stay. A process that has served the tenant takes no writes under its name until an operator
    /// accepts the store, because the log went back. After an error a part may be left, and another call removes the rest.
    async fn remove(&self, tenant: &TenantId) -> Result<()>;
}

/// The records of a tenant at one moment. Dropping it releases what the store holds for it.
#[async_trait]
pub trait Dump: Send {
    /// The next records, at most a few hundred; none at the end.
    ///
    /// To ensure that the dumps of equal tenants are equal, they come in this order: the
    /// [`TenantHead`], members, messages, documents (by collection), sessions, members of the
    /// committee, its days, its briefs, and the log with all takes; each kind by id, day or number,
    /// members in the order of the UTF-8 bytes.
    async fn next(&mut self) -> Result<Vec<Stored>>;
}

/// Records that are written but not committed yet. Dropping it discards them. If the process is
/// killed, they are discarded too, or at least never read.
#[async_trait]
pub trait Restore: Send {
    /// Writes records of a tenant, in the order of [`Dump::next`] and in batches of any size. All
    /// records of a tenant are written before the first of the next one.
    ///
    /// Versions begin at 1. Attempts are not part of a dump, since they only identify a commit that a client
    /// library sends twice: takes get a [`restored_attempt`].
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()>;

    /// Commits everything, durably; each tenant atomically. Returns [`Restored::Occupied`], with
    /// nothing committed, when one of the tenants has records other than challenges.
    async fn commit(self: Box<Self>) -> Result<Restored>;

    /// Discards everything at once; dropping it may leave that to the store.
    async fn discard(self: Box<Self>) -> Result<()>;
}

/// Returns the attempt of a take that was restored: its id, or for the committee its number among
/// all submissions, from 1. New attempts are random, so none is the same.
pub fn restored_attempt(id: u64) -> AttemptId {
    AttemptId(u128::from(id).to_be_bytes())
}

/// The outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Restored {
    /// The restored tenants are committed.
    Complete,
    /// This tenant has records; nothing was committed.
    Occupied(TenantId),
}

/// A record of a tenant, without its version.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// What precedes the records.
    Head(TenantHead),
    /// A member in any state.
    Member(Arc<Member>),
    /// A message of the outbox.
    Message(Arc<Message>),
    /// A document.
    Document(StoredDocument),
    /// A session.
    Session(Arc<Session>),
    /// A member of the committee.
    CommitteeMember(Arc<CommitteeMember>),
    /// A day of the committee.
    CommitteeDay(Arc<CommitteeDay>),
    /// A brief of the committee, of this day.
    CommitteeBrief(Day, Arc<CommitteeBrief>),
    /// A row of the log, with its take if it is the row of one. Every take has a row, so the log contains all takes
    /// in the order of their ids, and with them the used nonces.
    Log(LogRow),
}

/// The counters of a tenant. An id is never given twice, even if its record is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantHead {
    /// The number of the last row of the log.
    pub log: Seq,
    /// The last id of a message.
    pub messages: MessageId,
    /// The last id of a session.
    pub sessions: SessionId,
    /// The last id of a document, of each collection that has had any.
    pub documents: BTreeMap<Collection, u64>,
}

/// A document, with what a read does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The collection.
    pub collection: Collection,
    /// The group.
    pub group: String,
    /// The session until whose opening the text is held.
    pub held_until: Option<SessionId>,
    /// The document, with its text.
    pub document: Document,
}
