//! Sends `store.refused` and `store.ready` while the store does not answer or is not ready. The deliveries are kept in memory, because
//! the store cannot keep them.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::rules::{DeliveryFault, STORE_REFUSED};
use swarm_core::service::WebhookSender;
use swarm_core::store::StoreErrorKind;
use swarm_core::{Error, Swarm, Tenant, Timestamp};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The time for which the store must be unreachable or not ready before `store.refused` is sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two attempts to tell a webhook, and the most of them in an outage.
const ATTEMPT_INTERVAL: Duration = Duration::from_secs(30);
const MAX_ATTEMPTS: u32 = 10;

/// The time between two questions whether the store is ready. SQLite answers after a write.
const ASK_INTERVAL: Duration = Duration::from_secs(5);

/// Whether a store is ready, as `/readyz` says. All tenants share it, so that the store is asked once for all of them.
pub struct StoreReadiness {
    swarm: Swarm,
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl StoreReadiness {
    /// Asks the store of this service.
    pub fn new(swarm: Swarm) -> Self {
        Self { swarm, last: Mutex::default() }
    }

    /// Why the store is not to be used, if it answers so: its disk or its memory is full, or its settings are unsafe.
    async fn refusal(&self) -> Option<String> {
        let mut last = self.last.lock().await;
        match &*last {
            Some((at, refusal)) if at.elapsed() < ASK_INTERVAL => refusal.clone(),
            _ => {
                let refusal = match self.swarm.ready().await {
                    Err(Error::Store(error)) if error.kind() == StoreErrorKind::Misconfigured => {
                        error.public_cause()
                    }
                    _ => None,
                };
                *last = Some((Instant::now(), refusal.clone()));
                refusal
            }
        }
    }
}

impl fmt::Debug for StoreReadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreReadiness").finish_non_exhaustive()
    }
}

/// What is known of whether the store answers, and is ready.
pub(crate) struct OutageWatch {
    readiness: Arc<StoreReadiness>,
    /// The last time by the store's clock, and when it was read.
    clock: Option<(Timestamp, Instant)>,
    outage: Option<Outage>,
}

/// An outage of the store.
struct Outage {
    /// When it began, by the store's clock.
    since: Timestamp,
    began: Instant,
    /// The URLs that are not asked again: they accepted it, or want no repetition.
    settled: HashSet<String>,
    /// Whether one accepted it.
    is_told: bool,
    attempts: u32,
    tried_at: Option<Instant>,
}

impl OutageWatch {
    pub(crate) fn new(readiness: Arc<StoreReadiness>) -> Self {
        Self { readiness, clock: None, outage: None }
    }

    /// Why the store is not to be used, if it answers so.
    pub(crate) async fn refusal(&self) -> Option<String> {
        self.readiness.refusal().await
    }

    /// Notes the time by the store's clock, by which an outage is dated.
    pub(crate) fn read_clock(&mut self, now: Timestamp) {
        self.clock = Some((now, Instant::now()));
    }

    /// Notes that the store answered, and when that was by its clock. After an outage that webhooks were told of, it
    /// leaves a notice for them.
    pub(crate) async fn answered(&mut self, tenant: &Tenant, now: Timestamp) -> Result<(), Error> {
        if let Some(outage) = self.outage.as_ref().filter(|outage| outage.is_told) {
            tenant.note_store_answers(outage.since).await?;
        }
        self.outage = None;
        self.read_clock(now);
        Ok(())
    }

    /// Whether an outage was not followed by an answer yet.
    pub(crate) fn is_out(&self) -> bool {
        self.outage.is_some()
    }

    /// Notes that a call failed, perhaps since the store is not ready.
    pub(crate) async fn failed(
        &mut self,
        tenant: &Tenant,
        sender: &Arc<dyn WebhookSender>,
        error: &Error,
    ) {
        let is_unanswered =
            matches!(error, Error::Store(error) if error.kind() == StoreErrorKind::Unavailable);
        if is_unanswered {
            let refusal = self.refusal().await;
            let reason = refusal.as_deref().unwrap_or("the store does not answer");
            self.goes_on(tenant, sender, reason).await;
        }
    }

    /// Notes that the store does not answer, or is not ready. After [`PATIENCE`], sends `store.refused` to each webhook
    /// that is configured for it, and again until the webhook accepts it, or answers that it wants no repetition.
    pub(crate) async fn goes_on(
        &mut self,
        tenant: &Tenant,
        sender: &Arc<dyn WebhookSender>,
        reason: &str,
    ) {
        // Without a reading of the store's clock nothing can be dated.
        let Some((known, read_at)) = self.clock else { return };
        let now = Instant::now();
        let at = |moment: Instant| {
            let passed = i64::try_from((moment - read_at).as_millis()).unwrap_or(i64::MAX);
            known.plus_millis(passed)
        };
        let outage = self.outage.get_or_insert_with(|| Outage {
            since: at(now),
            began: now,
            settled: HashSet::new(),
            is_told: false,
            attempts: 0,
            tried_at: None,
        });
        let is_due = outage.tried_at.is_none_or(|at| now - at >= ATTEMPT_INTERVAL);
        if now - outage.began < PATIENCE || outage.attempts >= MAX_ATTEMPTS || !is_due {
            return;
        }
        outage.attempts += 1;
        outage.tried_at = Some(now);
        let mut sending = JoinSet::new();
        for settings in tenant.webhooks() {
            if !settings.wants(STORE_REFUSED) || outage.settled.contains(&settings.url) {
                continue;
            }
            let request = Tenant::outage_request(settings, outage.since, reason, at(now));
            let (sender, url) = (Arc::clone(sender), settings.url.clone());
            sending.spawn(async move { (url, sender.send(request).await) });
        }
        while let Some(sent) = sending.join_next().await {
            let Ok((url, outcome)) = sent else { continue };
            outage.is_told |= outcome.is_ok();
            if matches!(outcome, Ok(()) | Err(DeliveryFault::Refused(_))) {
                outage.settled.insert(url);
            }
        }
    }
}
