//! Messages to members, and what became of them.

use serde::Serialize;

use super::{Contact, MessageId, Timestamp};

/// A message to a member (API.md, 7.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Mail {
    /// The contact that the member gave, as it is.
    pub to: Contact,
    /// The subject line.
    pub subject: String,
    /// The text.
    pub body: String,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MailState {
    /// It waits for its next attempt, or for the end of one that is under way.
    Queued,
    /// It was handed over.
    Sent,
    /// It was tried as often as it may be.
    Failed,
    /// The contact is nothing that mail can be sent to.
    Undeliverable,
}

impl MailState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Sent, Self::Failed, Self::Undeliverable];

    /// The state with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// The name of the state on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Undeliverable => "undeliverable",
        }
    }
}

impl std::fmt::Display for MailState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message in the outbox (API.md, 7.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// What is to be sent.
    pub mail: Mail,
    /// What became of it.
    pub state: MailState,
    /// When it was committed, by the store's clock.
    pub queued_at: Timestamp,
    /// When it was handed over.
    pub sent_at: Option<Timestamp>,
    /// How often it was tried.
    pub attempts: u32,
    /// Why the last attempt came to nothing.
    pub last_error: Option<String>,
    /// When it may be tried next. While one server tries, this is when others may.
    pub due_at: Timestamp,
}

impl Mail {
    /// The message that this becomes, once the commit has given it an id and a time.
    pub fn queued(&self, id: MessageId, queued_at: Timestamp) -> Message {
        Message {
            id,
            mail: self.clone(),
            state: MailState::Queued,
            queued_at,
            sent_at: None,
            attempts: 0,
            last_error: None,
            due_at: queued_at,
        }
    }
}
