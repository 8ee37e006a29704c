//! The part of the port for the outbox.

use async_trait::async_trait;

use super::{Result, Saved};
use crate::domain::{MailState, Message, MessageId, Timestamp};
use crate::rules::{MessageChange, QueuedMail, Versioned};

/// The messages to members. A message is created by the change of a member, with
/// [`MemberChange::mail`](crate::rules::MemberChange::mail), or by [`queue_message`](Self::queue_message).
#[async_trait]
pub trait Outbox: Send + Sync {
    /// The messages that match, by id. A store should use an index and not scan the others.
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>>;

    /// Writes a message, atomically. Returns [`Saved::Stale`] unless the stored version is
    /// `change.expected`.
    async fn save_message(&self, change: &MessageChange) -> Result<Saved>;

    /// Queues a message, atomically. The guards of a reminder are those that [`Queued`] names.
    async fn queue_message(&self, mail: &QueuedMail) -> Result<Queued>;
}

/// The outcome of [`Outbox::queue_message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Queued {
    /// It is queued, with this id, at this time.
    Queued(MessageId, Timestamp),
    /// There is a message with the same [occasion](crate::rules::Reminder::occasion).
    Before,
    /// The session has another version, or the member has a take in it.
    Stale,
}

/// A filter for messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageQuery {
    /// Only messages in this state.
    pub state: Option<MailState>,
    /// Only messages with a higher id.
    pub after: Option<MessageId>,
    /// The maximum number of results.
    pub limit: usize,
}

impl MessageQuery {
    /// All messages.
    pub const ALL: Self = Self { state: None, after: None, limit: usize::MAX };
}
