//! Answers about webhooks and deliveries to them (API.md, 15).

use serde::{Deserialize, Serialize};

use crate::domain::{DeliveryId, DeliveryState, Timestamp};

/// The webhooks, and a page of deliveries to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Webhooks {
    /// The webhooks.
    pub webhooks: Vec<WebhookStatus>,
    /// The deliveries, the newest first.
    pub deliveries: Vec<WebhookDelivery>,
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_before: Option<DeliveryId>,
}

/// The state of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WebhookStatus {
    /// Its URL.
    pub url: String,
    /// Whether the last of its deliveries failed.
    pub failing: bool,
    /// When the oldest delivery was queued that still waits.
    pub oldest: Option<Timestamp>,
}

/// A delivery of an event to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Delivery"))]
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
    /// The header webhook-id, the same at each attempt.
    pub webhook_id: String,
    /// The state.
    pub state: DeliveryState,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// When the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The number of attempts so far.
    pub attempts: u32,
    /// When the next attempt is due, while it is queued.
    pub due_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}
