//! Faults of webhooks, notices and reminders.

use std::sync::atomic::{AtomicU64, Ordering};

use swarm_core::domain::{Delivery, DeliveryState, NoticeDraft, Timestamp};
use swarm_core::store::{
    DeliveryChange, DeliveryQuery, MemberChange, MemberSaved, Queued, QueuedMail, Result, Saved,
    Versioned, WebhookBasis, WebhookChange, async_trait,
};

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::{fault, from_all};

fault!(DeliveriesLost: save_webhook(stores, change: &WebhookChange) -> Option<Vec<Delivery>> {
    let deliveries = change.deliveries.iter().take(1).cloned().collect();
    stores.own.save_webhook(&WebhookChange { deliveries, ..change.clone() }).await
});

fault!(WebhookAtAnyVersion: save_webhook(stores, change: &WebhookChange) -> Option<Vec<Delivery>> {
    let there = stores.own.webhook(&change.webhook.url).await?.webhook;
    let expected = there.map(|webhook| webhook.version);
    stores.own.save_webhook(&WebhookChange { expected, ..change.clone() }).await
});

fault!(DeliveriesInAnyState:
    deliveries(stores, query: &DeliveryQuery<'_>) -> Vec<Versioned<Delivery>> {
    let query = match *query {
        DeliveryQuery::Newest { before, limit, .. } => {
            DeliveryQuery::Newest { state: None, before, limit }
        }
        due => due,
    };
    stores.own.deliveries(&query).await
});

fault!(DeliveryErrorForgotten: save_delivery(stores, change: &DeliveryChange) -> Saved {
    let delivery = Delivery { last_error: None, ..change.delivery.clone() };
    stores.own.save_delivery(&DeliveryChange { delivery, ..change.clone() }).await
});

fault!(FailuresForgotten: webhook(stores, url: &str) -> WebhookBasis {
    let failed = stores.own.count(swarm_core::store::Countable::Deliveries(DeliveryState::Failed));
    let is_failing = failed.await? > 0;
    Ok(WebhookBasis { is_failing, ..stores.own.webhook(url).await? })
});

/// Keeps a notice for each call.
#[derive(Default)]
pub(crate) struct NoticeOfEachCall(AtomicU64);

#[async_trait]
impl Fault for NoticeOfEachCall {
    async fn save_notice(&self, stores: &TenantStores, notice: &NoticeDraft) -> Result<Saved> {
        let name = format!("{} {}", notice.name, self.0.fetch_add(1, Ordering::Relaxed));
        stores.own.save_notice(&NoticeDraft { name, ..notice.clone() }).await
    }
}

fault!(NoticeLost: save_member(stores, change: &MemberChange) -> MemberSaved {
    stores.own.save_member(&MemberChange { notice: None, ..change.clone() }).await
});

fault!(OldDeliveriesKept: remove_webhook_records(_stores, _before: Timestamp) -> () {
    Ok(())
});

fault!(DeliveriesOfAllTenants:
    deliveries(stores, query: &DeliveryQuery<'_>) -> Vec<Versioned<Delivery>> {
    Ok(from_all!(stores.deliveries(query)))
});

fault!(RemindedTwice: queue_message(stores, mail: &QueuedMail) -> Queued {
    let mail = QueuedMail { reminder: None, ..mail.clone() };
    stores.own.queue_message(&mail).await
});
