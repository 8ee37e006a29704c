//! Mail to members, and the messages of the outbox.

use serde::{Deserialize, Serialize};

use super::form::form;
use super::{Contact, MemberId, MessageId, Timestamp};

/// A message to a member (API.md, 7.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// The contact that the member gave, unchanged.
    #[serde(with = "contact_or_null", default = "Contact::erased")]
    pub to: Contact,
    /// The subject line.
    pub subject: String,
    /// The text.
    pub body: String,
}

form! {
    /// The request of an operator to test the delivery of mail to an address.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct MailAddress "MailAddress" in "members" {
        pub address: String = "address": "An e-mail address.",
    }
    example r#"{"address": "ada@test.example"}"#;
}

/// The delivery state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MailState {
    /// The message waits for its next attempt, or an attempt is in progress.
    Queued,
    /// The mail server accepted it.
    Sent,
    /// The last permitted attempt failed.
    Failed,
    /// The contact is not a mail address, or the mail server refused it for good.
    Undeliverable,
    /// An operator gave it up, or its member was erased.
    Cancelled,
}

impl MailState {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Queued, Self::Sent, Self::Failed, Self::Undeliverable, Self::Cancelled];

    /// Returns the state with this name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Returns the name of the state on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Undeliverable => "undeliverable",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for MailState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The contact as text, and an erased one as `null`.
mod contact_or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Contact;

    pub(super) fn serialize<S: Serializer>(to: &Contact, serializer: S) -> Result<S::Ok, S::Error> {
        (!to.is_erased()).then_some(to).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Contact, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or_else(Contact::erased))
    }
}

/// A message in the outbox (API.md, 7.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id.
    pub id: MessageId,
    /// The mail to send.
    #[serde(flatten)]
    pub mail: Mail,
    /// Its delivery state.
    pub state: MailState,
    /// The time of the commit, by the store's clock.
    pub queued_at: Timestamp,
    /// When the mail server accepted it.
    pub sent_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// The time of the next attempt. During an attempt, this is when the lease of the sending
    /// server ends and another one may try.
    pub due_at: Timestamp,
    /// The member that it is for; none of a test.
    #[serde(rename = "memberId", skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// What makes it unique, if it may be queued only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occasion: Option<String>,
}

impl Mail {
    /// Returns the queued message, with the id and the time that the commit assigned. It is for no member, and may be queued
    /// any number of times.
    pub fn queued(&self, id: MessageId, queued_at: Timestamp) -> Message {
        Message {
            id,
            mail: self.clone(),
            member: None,
            occasion: None,
            state: MailState::Queued,
            queued_at,
            sent_at: None,
            attempts: 0,
            last_error: None,
            due_at: queued_at,
        }
    }
}
