//! Webhooks: queries, and what is known of one.

use crate::domain::{DeliveryId, DeliveryState, Timestamp, Webhook};
use crate::rules::Versioned;

/// What is known of a webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookBasis {
    /// How far it has got; `None` before it has begun.
    pub webhook: Option<Versioned<Webhook>>,
    /// The number of deliveries that are queued, at most 10,000.
    pub queued: u64,
    /// When the oldest of them was queued.
    pub oldest: Option<Timestamp>,
    /// Whether the newest delivery whose last attempt failed is newer than the newest one that was delivered.
    pub is_failing: bool,
}

/// A filter for deliveries.
#[derive(Clone, Copy, Debug)]
pub enum DeliveryQuery<'a> {
    /// The queued deliveries to a webhook, the one that is due first first.
    Due {
        /// The URL of the webhook.
        url: &'a str,
        /// The maximum number of results.
        limit: usize,
    },
    /// Deliveries, the newest first.
    Newest {
        /// Only deliveries in this state.
        state: Option<DeliveryState>,
        /// Only deliveries with lower numbers.
        before: Option<DeliveryId>,
        /// The maximum number of results.
        limit: usize,
    },
}
