//! Offers checkpoints to witnesses.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::Error;
use swarm_core::domain::Seq;
use swarm_core::service::signed_log::{OfferOutcome, SignedCheckpoint, SignedLog, Witness};
use swarm_core::service::with_causes;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// The longest time between two offers.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The time until a witness that did not cosign is asked again.
const RETRY: Duration = Duration::from_secs(600);

/// Maximum number of offers in a row that a newer checkpoint superseded before the witness had answered.
const MAX_SUPERSEDED: u32 = 3;

/// How long a round waits for answers. Those that come later are noted by the next rounds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Offers the checkpoint of a log to the witnesses that the function returns for a tenant: when a session has closed, at
/// the start, and at least daily (API.md, 11.6). Witnesses are asked at the same time. Nothing waits for one that does not
/// answer, not even the next offer to another.
#[derive(Debug)]
pub struct OfferCheckpoints<F> {
    witnesses: F,
    /// By the key of the witness; without those that are being asked.
    progress: HashMap<String, WitnessProgress>,
    offers: JoinSet<Offered>,
    /// The witnesses that are being asked, by the task of the offer.
    asked: HashMap<Id, String>,
}

/// An offer that has ended: to which witness, of which checkpoint, and how.
type Offered = (String, WitnessProgress, Seq, Result<OfferOutcome, Error>);

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
        let (progress, offers, asked) = (HashMap::new(), JoinSet::new(), HashMap::new());
        Self { witnesses, progress, offers, asked }
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
        for witness in witnesses {
            let key = witness.key().to_string();
            if self.asked.values().any(|asked| *asked == key) {
                continue;
            }
            let progress =
                self.progress.remove(&key).filter(|it| it.origin == signed.checkpoint.origin);
            let progress = progress.unwrap_or_else(|| WitnessProgress::new(&signed, now));
            if closing.is_some_and(|closing| closing.0 > signed.checkpoint.size)
                || !progress.is_due(now, closing)
            {
                self.progress.insert(key, progress);
                continue;
            }
            let (log, signed, asked) = (log.clone(), signed.clone(), key.clone());
            let offer = self.offers.spawn(async move {
                let mut progress = progress;
                let offered = log.offer(&signed, &*witness, &mut progress.known).await;
                (asked, progress, Seq(signed.checkpoint.size), offered)
            });
            self.asked.insert(offer.id(), key);
        }
        self.note_answers(tenant).await;
        let next = self.progress.values().map(|progress| progress.next).min();
        let wait = next.map_or(INTERVAL, |next| next.saturating_duration_since(Instant::now()));
        let is_waiting = is_behind || !self.asked.is_empty();
        Ok(if is_waiting { Next::Soon } else { Next::In(wait) })
    }

    /// Waits for answers, but no longer than [`PATIENCE`], and records them.
    async fn note_answers<T: MaintainedTenant>(&mut self, tenant: &T) {
        let end = Instant::now() + PATIENCE;
        while let Ok(Some(offer)) = timeout_at(end, self.offers.join_next_with_id()).await {
            match offer {
                Ok((id, (key, mut progress, size, offered))) => {
                    self.asked.remove(&id);
                    let offered =
                        offered.unwrap_or_else(|error| OfferOutcome::Refused(with_causes(&error)));
                    progress.note(tenant, &key, offered, size);
                    self.progress.insert(key, progress);
                }
                // A witness whose task panicked gets a new offer at once.
                Err(panicked) => drop(self.asked.remove(&panicked.id())),
            }
        }
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

    /// So that an answer that came late is noted soon, and another witness is asked about what has changed meanwhile.
    fn pause(&self) -> Duration {
        Duration::from_secs(1)
    }
}
