//! The messages to members.

use async_trait::async_trait;

use super::{Result, Saved};
use crate::domain::{MailState, Message, MessageId};
use crate::rules::{MessageChange, Versioned};

/// The part of the port that keeps messages. They come in with the change of a member,
/// [`MemberChange::mail`](crate::rules::MemberChange::mail).
#[async_trait]
pub trait Outbox: Send + Sync {
    /// The messages that match, by id. A store reads hardly any others for it.
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>>;

    /// Writes a message, atomically, unless its version is no longer `change.expected`.
    async fn save_message(&self, change: &MessageChange) -> Result<Saved>;
}

/// Which messages are asked for.
#[derive(Clone, Copy, Debug)]
pub struct MessageQuery {
    /// Only those in this state.
    pub state: Option<MailState>,
    /// Only those with a higher id.
    pub after: Option<MessageId>,
    /// At most so many.
    pub limit: usize,
}

impl MessageQuery {
    /// All messages.
    pub const ALL: Self = Self { state: None, after: None, limit: usize::MAX };
}
