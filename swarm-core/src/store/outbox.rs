//! The messages to members.

use async_trait::async_trait;

use super::{Result, Saved};
use crate::domain::{MailState, Message, MessageId};
use crate::rules::{MessageChange, Versioned};

/// The part of the port that keeps messages. They come in with the change of a member,
/// [`MemberChange::mail`](crate::rules::MemberChange::mail).
#[async_trait]
pub trait Outbox: Send + Sync {
    /// The messages, by id; where given, those in this state, and with higher ids than `after`. A
    /// store reads no others for it.
    async fn messages(
        &self,
        state: Option<MailState>,
        after: Option<MessageId>,
    ) -> Result<Vec<Versioned<Message>>>;

    /// Writes a message, atomically, unless its version is no longer `change.expected`.
    async fn save_message(&self, change: &MessageChange) -> Result<Saved>;
}
