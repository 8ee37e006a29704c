//! Responses about webhooks and deliveries to them (API.md, 15).

use serde::Serialize;

use super::Answer;
use crate::answers::{WebhookDelivery, WebhookStatus, Webhooks};
use crate::domain::{Delivery, DeliveryState};
use crate::service::DeliveryPage;

/// Returns the response with the webhooks and a page of deliveries: `{webhooks, deliveries, nextBefore?}`.
pub fn deliveries(webhooks: Vec<WebhookStatus>, page: &DeliveryPage) -> Answer {
    let deliveries = page.deliveries.iter().map(|delivery| shown(delivery)).collect();
    Answer::ok(&Webhooks { webhooks, deliveries, next_before: page.next_before })
}

/// Returns the response with a changed delivery: `{ok, status, delivery}`.
pub fn delivery_changed(delivery: &Delivery) -> Answer {
    Answer::done(200, &DeliveryChanged { delivery: shown(delivery) })
}

/// A delivery was changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct DeliveryChanged {
    /// The delivery.
    delivery: WebhookDelivery,
}

fn shown(delivery: &Delivery) -> WebhookDelivery {
    let is_queued = delivery.state == DeliveryState::Queued;
    WebhookDelivery {
        id: delivery.id,
        url: delivery.draft.url.clone(),
        event: delivery.draft.event.clone(),
        webhook_id: delivery.draft.event_id.clone(),
        state: delivery.state,
        queued_at: delivery.queued_at,
        delivered_at: delivery.delivered_at,
        attempts: delivery.attempts,
        due_at: is_queued.then_some(delivery.due_at),
        last_error: delivery.last_error.clone(),
    }
}
