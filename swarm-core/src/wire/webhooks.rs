//! Responses about webhooks and deliveries to them (API.md, 15).

use serde::Serialize;

use super::Answer;
use crate::domain::{Delivery, DeliveryId, DeliveryState, Timestamp};
use crate::service::{DeliveryPage, WebhookStatus};

/// Returns the response with the webhooks and a page of deliveries: `{webhooks, deliveries, nextBefore?}`.
pub fn deliveries(webhooks: &[WebhookStatus], page: &DeliveryPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Deliveries<'a> {
        webhooks: &'a [WebhookStatus],
        deliveries: Vec<Shown<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<DeliveryId>,
    }
    let deliveries = page.deliveries.iter().map(|delivery| Shown::of(delivery)).collect();
    Answer::ok(&Deliveries { webhooks, deliveries, next_before: page.next_before })
}

/// Returns the response with a changed delivery: `{ok, status, delivery}`.
pub fn delivery_changed(delivery: &Delivery) -> Answer {
    #[derive(Serialize)]
    struct Changed<'a> {
        delivery: Shown<'a>,
    }
    Answer::done(200, &Changed { delivery: Shown::of(delivery) })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: DeliveryId,
    url: &'a str,
    #[serde(rename = "type")]
    event: &'a str,
    webhook_id: &'a str,
    state: DeliveryState,
    queued_at: Timestamp,
    delivered_at: Option<Timestamp>,
    attempts: u32,
    /// Of a queued delivery.
    due_at: Option<Timestamp>,
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
