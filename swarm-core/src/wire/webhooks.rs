//! Responses about webhooks and deliveries to them (API.md, 15).

use serde::Serialize;

use super::Answer;
use crate::domain::{Delivery, DeliveryId, DeliveryState, Timestamp};
use crate::service::{DeliveryPage, WebhookStatus};

/// Returns the response with the webhooks and a page of deliveries: `{webhooks, deliveries, nextBefore?}`.
pub fn deliveries(webhooks: &[WebhookStatus], page: &DeliveryPage) -> Answer {
    let deliveries = page.deliveries.iter().map(|delivery| Shown::of(delivery)).collect();
    Answer::ok(&Webhooks { webhooks, deliveries, next_before: page.next_before })
}

/// The webhooks, and a page of deliveries to them.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhooks<'a> {
    /// The webhooks.
    webhooks: &'a [WebhookStatus],
    /// The deliveries, the newest first.
    deliveries: Vec<Shown<'a>>,
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<DeliveryId>,
}

/// Returns the response with a changed delivery: `{ok, status, delivery}`.
pub fn delivery_changed(delivery: &Delivery) -> Answer {
    Answer::done(200, &DeliveryChanged { delivery: Shown::of(delivery) })
}

/// A delivery was changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct DeliveryChanged<'a> {
    /// The delivery.
    delivery: Shown<'a>,
}

/// A delivery of an event to a webhook.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Delivery"))]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    /// The id.
    id: DeliveryId,
    /// The URL of the webhook.
    url: &'a str,
    /// The name of the event.
    #[serde(rename = "type")]
    event: &'a str,
    /// The header webhook-id, the same at each attempt.
    webhook_id: &'a str,
    /// The state.
    state: DeliveryState,
    /// When it was queued.
    queued_at: Timestamp,
    /// When the receiver accepted it.
    delivered_at: Option<Timestamp>,
    /// The number of attempts so far.
    attempts: u32,
    /// When the next attempt is due, while it is queued.
    due_at: Option<Timestamp>,
    /// Why the last attempt failed.
    last_error: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn of(delivery: &'a Delivery) -> Self {
        let is_queued = delivery.state == DeliveryState::Queued;
        Self {
            id: delivery.id,
            url: &delivery.draft.url,
            event: &delivery.draft.event,
            webhook_id: &delivery.draft.event_id,
            state: delivery.state,
            queued_at: delivery.queued_at,
            delivered_at: delivery.delivered_at,
            attempts: delivery.attempts,
            due_at: is_queued.then_some(delivery.due_at),
            last_error: delivery.last_error.as_deref(),
        }
    }
}
