//! Offers checkpoints to witnesses.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::Error;
use swarm_core::domain::Seq;
use swarm_core::service::signed_log::{OfferOutcome, SignedCheckpoint, SignedLog, Witness};
use swarm_core::service::with_causes;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// The longest time between two offers.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The time until a witness that did not cosign is asked again.
const RETRY: Duration = Duration::from_secs(600);

/// Maximum number of offers in a row that a newer checkpoint superseded before the witness had answered.
const MAX_SUPERSEDED: u32 = 3;

/// Offers the checkpoint of a log to the witnesses that the function returns for a tenant: when a session has closed, at
/// the start, and at least daily (API.md, 11.6). Witnesses are asked at the same time, and nothing waits for them.
#[derive(Debug)]
pub struct OfferCheckpoints<F> {
    witnesses: F,
    /// By the key of the witness.
    progress: HashMap<String, WitnessProgress>,
}

/// The progress of one witness.
#[derive(Clone, Debug)]
struct WitnessProgress {
    /// The origin of the log that was offered to it.
    origin: String,
    /// The size up to which it has cosigned the log.
    known: u64,
    /// The size of the checkpoint that was offered to it last.
    offered: Seq,
    /// The latest time of the next offer.
    next: Instant,
    /// The number of offers in a row that were superseded.
    superseded: u32,
    last: Option<OfferOutcome>,
}

impl<F> OfferCheckpoints<F> {
    /// A job for the witnesses that the function returns.
    pub fn new(witnesses: F) -> Self {
        Self { witnesses, progress: HashMap::new() }
    }

    async fn offer<T: MaintainedTenant>(
        &mut self,
        tenant: &T,
        log: &SignedLog,
        witnesses: Vec<Arc<dyn Witness>>,
    ) -> Result<Next, Error> {
        let Some(signed) = log.checkpoint().await? else { return Ok(Next::Soon) };
        let is_behind = signed.checkpoint.size < tenant.tenant().log_size().await?.0;
        let (now, closing) = (Instant::now(), log.last_closing());
        let mut offers = JoinSet::new();
        for witness in witnesses {
            let key = witness.key().to_string();
            let progress =
                self.progress.remove(&key).filter(|it| it.origin == signed.checkpoint.origin);
            let progress = progress.unwrap_or_else(|| WitnessProgress::new(&signed, now));
            if closing.is_some_and(|closing| closing.0 > signed.checkpoint.size)
                || !progress.is_due(now, closing)
            {
                self.progress.insert(key, progress);
                continue;
            }
            let (log, signed) = (log.clone(), signed.clone());
            offers.spawn(async move {
                let mut progress = progress;
                let offered = log.offer(&signed, &*witness, &mut progress.known).await;
                (key, progress, offered)
            });
        }
        while let Some(offer) = offers.join_next().await {
            // A witness whose task panicked gets a new offer at once.
            let Ok((key, mut progress, offered)) = offer else { continue };
            let offered =
                offered.unwrap_or_else(|error| OfferOutcome::Refused(with_causes(&error)));
            progress.note(tenant, &key, offered, Seq(signed.checkpoint.size));
            self.progress.insert(key, progress);
        }
        let next = self.progress.values().map(|progress| progress.next).min();
        let wait = next.map_or(INTERVAL, |next| next.saturating_duration_since(Instant::now()));
        Ok(if is_behind { Next::Soon } else { Next::In(wait) })
    }
}

impl WitnessProgress {
    /// A witness without a known state, which gets an offer at once.
    fn new(signed: &SignedCheckpoint, now: Instant) -> Self {
        let origin = signed.checkpoint.origin.clone();
        Self { origin, known: 0, offered: Seq(0), next: now, superseded: 0, last: None }
    }

    fn is_due(&self, now: Instant, closing: Option<Seq>) -> bool {
        now >= self.next || closing.is_some_and(|closing| closing > self.offered)
    }

    /// Records the outcome of an offer, and logs it if it differs from the one before.
    fn note<T: MaintainedTenant>(
        &mut self,
        tenant: &T,
        key: &str,
        offered: OfferOutcome,
        size: Seq,
    ) {
        self.offered = size;
        let is_superseded = offered == OfferOutcome::Superseded && self.superseded < MAX_SUPERSEDED;
        self.superseded = if is_superseded { self.superseded + 1 } else { 0 };
        self.next = Instant::now()
            + match &offered {
                _ if is_superseded => Duration::ZERO,
                OfferOutcome::Cosigned | OfferOutcome::Superseded => INTERVAL,
                _ => RETRY,
            };
        if self.last.as_ref() != Some(&offered) {
            report(tenant, key, &offered, size);
        }
        self.last = Some(offered);
    }
}

fn report<T: MaintainedTenant>(tenant: &T, key: &str, offered: &OfferOutcome, size: Seq) {
    let (tenant, witness) = (tenant.id(), key.split('+').next().unwrap_or(key));
    match offered {
        OfferOutcome::Cosigned | OfferOutcome::Superseded => {
            tracing::info!(%tenant, witness, %size, "checkpoint cosigned");
        }
        OfferOutcome::Ahead(known) => tracing::error!(
            %tenant, witness, %size, known,
            "the witness has cosigned a longer log: this log went back, or is a different one"
        ),
        OfferOutcome::Refused(reason) => {
            tracing::warn!(%tenant, witness, %size, reason, "checkpoint not cosigned");
        }
        _ => {}
    }
}

#[async_trait]
impl<T, F> Job<T> for OfferCheckpoints<F>
where
    T: MaintainedTenant,
    F: Fn(&T) -> Vec<Arc<dyn Witness>> + Send + 'static,
{
    async fn round(&mut self, tenant: &T) -> Next {
        let witnesses = (self.witnesses)(tenant);
        let log = tenant.signed_log().filter(|_| !witnesses.is_empty());
        let Some(log) = log.cloned() else { return Next::Changed };
        match self.offer(tenant, &log, witnesses).await {
            Ok(next) => next,
            Err(error) => {
                let tenant = tenant.id();
                tracing::error!(%tenant, error = with_causes(&error), "checkpoint not offered");
                Next::Soon
            }
        }
    }
}
