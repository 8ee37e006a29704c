//! What a dump has of a tenant.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Collection, Document};
use crate::domain::committee::{CommitteeBrief, CommitteeDay, CommitteeMember};
use crate::domain::{
    AttemptId, Day, LogRow, Member, Message, MessageId, Seq, Session, SessionId, TenantId,
};

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
