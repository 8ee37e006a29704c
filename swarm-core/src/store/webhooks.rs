//! The part of the port for webhooks.

use async_trait::async_trait;

use super::{Result, Saved};
use crate::domain::{
    Delivery, DeliveryId, DeliveryState, Notice, NoticeDraft, NoticeId, Timestamp, Webhook,
};
use crate::rules::{DeliveryChange, Versioned, WebhookChange};

/// How far webhooks have got, their deliveries, and the events that are no entries of the log.
///
/// None of it is part of a dump. It appends nothing to the log, and commits whatever the log and the clock are, as
/// [`save_tree`](super::Log::save_tree) does: webhooks are told too that the store refuses commits. The time of such a commit is
/// that of the store's clock.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// What is known of a webhook, in one read.
    async fn webhook(&self, url: &str) -> Result<WebhookBasis>;

    /// Writes how far a webhook has got, and queues deliveries, in one step if the stored version is the expected one. The numbers
    /// of deliveries count from 1, in their order. Returns the deliveries; `None` if the stored version is another one.
    async fn save_webhook(&self, change: &WebhookChange) -> Result<Option<Vec<Delivery>>>;

    /// Up to `limit` notices with higher numbers than `after`, oldest first.
    async fn notices(&self, after: NoticeId, limit: usize) -> Result<Vec<Notice>>;

    /// Adds a notice, and reports the tenant as changed in this process. Returns [`Saved::Stale`] if there is one with the
    /// same event and name. Others are added by the commits of
    /// [members](crate::rules::MemberChange::notice) and [messages](crate::rules::MessageChange::notice), in the same step.
    async fn save_notice(&self, notice: &NoticeDraft) -> Result<Saved>;

    /// The deliveries that match.
    async fn deliveries(&self, query: &DeliveryQuery<'_>) -> Result<Vec<Versioned<Delivery>>>;

    /// Writes a delivery, atomically. Returns [`Saved::Stale`] unless the stored version is `change.expected`.
    async fn save_delivery(&self, change: &DeliveryChange) -> Result<Saved>;

    /// Removes deliveries that were queued before this time, and notices from before it: the oldest ones, up to a few thousand
    /// of each.
    async fn remove_webhook_records(&self, before: Timestamp) -> Result<()>;
}

/// What is known of a webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookBasis {
    /// How far it has got; `None` before it has begun.
    pub webhook: Option<Versioned<Webhook>>,
    /// The number of deliveries that are queued, at most
    /// [`MAX_QUEUED_DELIVERIES`](crate::rules::MAX_QUEUED_DELIVERIES).
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
