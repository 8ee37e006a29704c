//! Answers about applications and the outbox.

use serde::{Deserialize, Serialize};

use crate::domain::{
    Contact, Lens, MailState, MemberId, MemberState, MessageId, Name, PublicKey, Timestamp,
};

/// How far an application has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApplicationState {
    /// The id of the member.
    pub id: MemberId,
    /// The state.
    pub state: MemberState,
    /// When it was received.
    pub applied_at: Timestamp,
    /// When an operator last activated or rejected the member.
    pub reviewed_at: Option<Timestamp>,
    /// When the member claimed its token.
    pub claimed_at: Option<Timestamp>,
}

/// A page of applications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Applications {
    /// The applications.
    pub applications: Vec<FullApplication>,
    /// The value of after for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after: Option<MemberId>,
}

/// A member from its application on, as operators see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FullApplication {
    /// The id of the member.
    pub id: MemberId,
    /// The state.
    pub state: MemberState,
    /// The name.
    pub name: Name,
    /// The address at which it is reached; null of a member that was erased.
    pub contact: Option<Contact>,
    /// Its point of view; null of a member that was erased.
    pub lens: Option<Lens>,
    /// The key that verifies its signatures, if it has one.
    pub public_key: Option<PublicKey>,
    /// When it applied.
    pub applied_at: Timestamp,
    /// When an operator last activated or rejected it.
    pub reviewed_at: Option<Timestamp>,
    /// When it claimed its token.
    pub claimed_at: Option<Timestamp>,
}

/// A page of the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outbox {
    /// The messages.
    pub messages: Vec<QueuedMessage>,
    /// The value of after for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after: Option<MessageId>,
}

/// A message in the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Message"))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QueuedMessage {
    /// The id.
    pub id: MessageId,
    /// The contact that it goes to; null of a message that was erased.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub to: Option<Contact>,
    /// The subject line.
    pub subject: String,
    /// The text.
    pub body: String,
    /// Its delivery state.
    pub state: MailState,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// When the mail server accepted it.
    pub sent_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}
