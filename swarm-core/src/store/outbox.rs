//! The outbox: queries, and outcomes.

use crate::domain::{MailState, MessageId, Timestamp};

/// The outcome of [`Records::queue_message`](super::Records::queue_message).
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
