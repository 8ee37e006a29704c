//! Delivery to webhooks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::domain::shown_url;
use swarm_core::rules::{STORE_READY, STORE_REFUSED};
use swarm_core::service::{StoreCondition, WebhookRound, WebhookSender};
use swarm_core::{Error, Tenant};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, PAUSE, report};
use crate::outage::{OutageWatch, StoreReadiness};

/// How long a round waits for receivers. Those that take longer are waited for in the next rounds.
const PATIENCE: Duration = Duration::from_millis(200);

/// The time between two removals of old deliveries.
const REMOVAL_INTERVAL: Duration = Duration::from_secs(600);

/// Queues and sends the deliveries of a tenant's webhooks (API.md, 15). Webhooks are independent: none waits for the
/// receiver of another. Of several servers, one makes each delivery at a time.
pub struct DeliverWebhooks {
    sender: Arc<dyn WebhookSender>,
    sending: JoinSet<Result<WebhookRound, Error>>,
    /// The URLs to which deliveries are being made, by the task that makes them.
    busy: HashMap<Id, String>,
    /// The reason of the last failure of each webhook that is failing, so that it is logged once.
    faults: HashMap<String, String>,
    /// When old deliveries were removed last.
    removed_at: Option<Instant>,
    condition: StoreCondition,
    /// When the store was asked last whether it takes commits.
    watched_at: Option<Instant>,
    outages: OutageWatch,
}

impl DeliverWebhooks {
    /// A job that posts with this sender, and tells webhooks of a store that is not ready.
    pub fn new(sender: Arc<dyn WebhookSender>, readiness: Arc<StoreReadiness>) -> Self {
        let (sending, busy, faults) = (JoinSet::new(), HashMap::new(), HashMap::new());
        let (removed_at, condition, watched_at) = (None, StoreCondition::Unknown, None);
        let outages = OutageWatch::new(readiness);
        Self { sender, sending, busy, faults, removed_at, condition, watched_at, outages }
    }

    /// Begins to deliver to each webhook that no task delivers to.
    fn deliver(&mut self, tenant: &Tenant) {
        for settings in tenant.webhooks() {
            if self.busy.values().any(|url| *url == settings.url) {
                continue;
            }
            let (tenant, sender) = (tenant.clone(), Arc::clone(&self.sender));
            let (settings, url) = (settings.clone(), settings.url.clone());
            let task = self
                .sending
                .spawn(async move { tenant.deliver_to_webhook(&settings, &*sender).await });
            self.busy.insert(task.id(), url);
        }
    }

    /// Waits for deliveries, but no longer than [`PATIENCE`].
    async fn note_deliveries<T: MaintainedTenant>(&mut self, tenant: &T) -> Next {
        let (end, mut next) = (Instant::now() + PATIENCE, Next::Changed);
        while let Ok(Some(ended)) = timeout_at(end, self.sending.join_next_with_id()).await {
            match ended {
                Ok((id, did)) => {
                    if let (Some(url), Ok(did)) = (self.busy.remove(&id), &did) {
                        self.log_fault(tenant, url, did);
                    }
                    let round = did.map(|did| did.round);
                    next = next.sooner(report(tenant, "deliveries to a webhook", round));
                }
                // A webhook whose task panicked gets another at once.
                Err(panicked) => drop(self.busy.remove(&panicked.id())),
            }
        }
        if self.busy.is_empty() { next } else { Next::Soon }
    }

    /// Logs that a webhook begins to fail, or fails for another reason.
    fn log_fault<T: MaintainedTenant>(&mut self, tenant: &T, url: String, did: &WebhookRound) {
        let tenant = tenant.id();
        match &did.fault {
            Some(fault) if self.faults.get(&url).is_none_or(|why| why != fault.why()) => {
                let (shown, why) = (shown_url(&url), fault.why());
                tracing::warn!(%tenant, url = shown, error = why, "delivery to a webhook failed");
                self.faults.insert(url, why.to_owned());
            }
            None if did.round.done > 0 => drop(self.faults.remove(&url)),
            _ => {}
        }
    }

    /// Notes that the store refuses commits, or takes them again, if a webhook wants to know.
    async fn watch_store(&mut self, tenant: &Tenant) -> Result<Next, Error> {
        if !tenant.wants(STORE_REFUSED) && !tenant.wants(STORE_READY) {
            return Ok(Next::Changed);
        }
        if self.outages.is_out() || self.watched_at.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.watched_at = Some(Instant::now());
            let now = tenant.now().await?;
            if let Some(reason) = self.outages.refusal().await {
                self.outages.read_clock(now);
                self.outages.goes_on(tenant, &self.sender, &reason).await;
                return Ok(Next::In(PAUSE));
            }
            self.outages.answered(tenant, now).await?;
            if tenant.note_store_condition(&mut self.condition).await? {
                return Ok(Next::Soon);
            }
        }
        Ok(Next::In(PAUSE))
    }

    /// Queues what is to be delivered. An error comes with what failed.
    async fn queue(&mut self, tenant: &Tenant) -> Result<Next, (&'static str, Error)> {
        let of = |what: &'static str| move |error| (what, error);
        // Deliveries are counted once they are made.
        let queued = tenant.queue_deliveries().await;
        let queued = queued.map_err(of("deliveries to webhooks queued"))?;
        let removed = self.remove_old(tenant).await;
        removed.map_err(of("old deliveries to webhooks removed"))?;
        let watched = self.watch_store(tenant).await;
        let watched = watched.map_err(of("condition of the store watched"))?;
        Ok(Next::after(queued).sooner(watched))
    }

    async fn remove_old(&mut self, tenant: &Tenant) -> Result<(), Error> {
        let is_due = self.removed_at.is_none_or(|at| at.elapsed() >= REMOVAL_INTERVAL);
        if is_due {
            tenant.remove_old_deliveries().await?;
            self.removed_at = Some(Instant::now());
        }
        Ok(())
    }
}

impl std::fmt::Debug for DeliverWebhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeliverWebhooks").field("busy", &self.busy).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for DeliverWebhooks {
    async fn round(&mut self, served: &T) -> Next {
        let tenant = served.tenant();
        if tenant.webhooks().is_empty() {
            return Next::Changed;
        }
        match self.queue(tenant).await {
            Ok(next) => {
                self.deliver(tenant);
                next.sooner(self.note_deliveries(served).await)
            }
            Err((what, error)) => {
                self.outages.failed(tenant, &self.sender, &error).await;
                report(served, what, Err(error));
                // In an outage a round of each tenant fails: no more often than those of other jobs.
                Next::In(PAUSE)
            }
        }
    }

    /// So that a delivery follows soon after the commit.
    fn pause(&self) -> Duration {
        Duration::from_millis(300)
    }
}
