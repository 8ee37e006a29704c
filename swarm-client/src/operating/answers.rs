//! Answers to operators: applications, messages, webhooks and acts.

use serde::Deserialize;
use swarm_core::domain::{
    Contact, DeliveryId, DeliveryState, Lens, MailState, MemberState, MessageId, Name, PublicKey,
    RecordedAct,
};
use swarm_core::{MemberId, Timestamp};

/// A page of members with their applications.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApplicationsAnswer {
    /// The members, by id.
    pub applications: Vec<ReceivedApplication>,
    /// The `after` of the next page, when there is more.
    pub next_after: Option<MemberId>,
}

/// A member and its application, as operators see it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReceivedApplication {
    /// The id.
    pub id: MemberId,
    /// The state.
    pub state: MemberState,
    /// The name.
    pub name: Name,
    /// The address at which it is reached; `None` once the member is erased.
    pub contact: Option<Contact>,
    /// Its point of view; `None` once the member is erased.
    pub lens: Option<Lens>,
    /// Its public key; `None` once it is removed.
    pub public_key: Option<PublicKey>,
    /// When it applied, by the service's clock.
    pub applied_at: Timestamp,
    /// When an operator last reviewed it.
    pub reviewed_at: Option<Timestamp>,
    /// When it claimed its token.
    pub claimed_at: Option<Timestamp>,
}

/// A page of the outbox.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessagesAnswer {
    /// The messages, by id.
    pub messages: Vec<QueuedMessage>,
    /// The `after` of the next page, when there is more.
    pub next_after: Option<MessageId>,
}

/// A message in the outbox.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QueuedMessage {
    /// The id.
    pub id: MessageId,
    /// The contact that it goes to; `None` once its member is erased.
    pub to: Option<Contact>,
    /// The subject line.
    pub subject: String,
    /// The text.
    pub body: String,
    /// Its delivery state.
    pub state: MailState,
    /// When it was queued, by the service's clock.
    pub queued_at: Timestamp,
    /// When the mail server accepted it.
    pub sent_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u64,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// The webhooks, and a page of deliveries to them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebhooksAnswer {
    /// The webhooks.
    pub webhooks: Vec<WebhookStatusAnswer>,
    /// The deliveries, the newest first.
    pub deliveries: Vec<WebhookDelivery>,
    /// The `before` of the next page, when there is more.
    pub next_before: Option<DeliveryId>,
}

/// The state of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct WebhookStatusAnswer {
    /// Its URL.
    pub url: String,
    /// Whether the last of its deliveries failed.
    pub failing: bool,
    /// When the oldest delivery was queued that still waits.
    pub oldest: Option<Timestamp>,
}

/// A delivery of an event to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebhookDelivery {
    /// The id.
    pub id: DeliveryId,
    /// The URL of the webhook.
    pub url: String,
    /// The name of the event.
    #[serde(rename = "type")]
    pub event: String,
    /// The header `webhook-id`, the same at each attempt.
    pub webhook_id: String,
    /// The state.
    pub state: DeliveryState,
    /// When it was queued, by the service's clock.
    pub queued_at: Timestamp,
    /// When the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u64,
    /// When the next attempt is due, while it is queued.
    pub due_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// A page of what operators did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ActsAnswer {
    /// What they did, the latest first.
    pub acts: Vec<RecordedAct>,
    /// The `before` of the next page, when there is more.
    pub next_before: Option<Timestamp>,
}
