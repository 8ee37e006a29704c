//! Signing of the log, and comparison of its entries with what was signed.

use std::time::Duration;

use async_trait::async_trait;
use swarm_core::Error;
use swarm_core::service::signed_log::{Damage, SignedLog, Signing};
use swarm_core::service::with_causes;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, PAUSE};

/// The time between two comparisons.
const CHECK_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The pause after each tile of 256 entries.
const PAUSE_AFTER_TILE: Duration = Duration::from_millis(5);

/// Permits for reading a log: one log is read at a time.
static READERS: Semaphore = Semaphore::const_new(1);

/// Signs a checkpoint of the log within two seconds of a commit (API.md, 11.6). Of several servers, one does it.
#[derive(Debug, Default)]
pub struct SignLog {
    /// The outcome of the last round, so that an unchanged outcome is logged once.
    last: Option<Signing>,
    /// The number of rounds in a row that failed.
    failures: u32,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for SignLog {
    async fn round(&mut self, served: &T) -> Next {
        let Some(log) = served.signed_log() else { return Next::Changed };
        let tenant = served.id();
        let signing = match log.sign().await {
            Ok(signing) => signing,
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                tracing::error!(%tenant, error = with_causes(&error), "log not signed");
                return Next::Soon;
            }
        };
        self.failures = 0;
        let next = if signing == Signing::Contended { Next::Soon } else { Next::Changed };
        if self.last.as_ref() != Some(&signing) {
            match &signing {
                Signing::WentBack => tracing::error!(
                    %tenant,
                    "the log does not continue the checkpoint that was signed last: the store was wiped, restored or \
                     failed over; commits are refused until an operator accepts the store"
                ),
                Signing::ForeignKey => tracing::error!(
                    %tenant,
                    "log not signed: another key signed the last checkpoint; accept this server's key if the \
                     change is intended"
                ),
                _ => {}
            }
        }
        self.last = Some(signing);
        next
    }

    /// A change is noticed within a second. With this pause, a checkpoint follows less than two seconds after it. While the store
    /// fails, the pause doubles up to that of other jobs.
    fn pause(&self) -> Duration {
        let factor = 2_u32.saturating_pow(self.failures);
        Duration::from_millis(300).saturating_mul(factor).min(PAUSE)
    }
}

/// Compares all entries of a log with its last checkpoint: at the start, when another log has begun, and daily (API.md,
/// 11.4). It reads one log at a time, slowly.
#[derive(Debug, Default)]
pub struct CheckEntries {
    /// When the last comparison ended, and the number of its log.
    checked: Option<(Instant, u64)>,
}

impl CheckEntries {
    async fn check<T: MaintainedTenant>(
        &mut self,
        tenant: &T,
        log: &SignedLog,
    ) -> Result<Next, Error> {
        let number = tenant.tenant().log_position().await?.log;
        if let Some((at, of)) = self.checked {
            let rest = CHECK_INTERVAL.saturating_sub(at.elapsed());
            if of == number && !rest.is_zero() {
                return Ok(Next::In(rest));
            }
        }
        let Ok(_permit) = READERS.acquire().await else { return Ok(Next::Soon) };
        let Some(mut check) = log.begin_entry_check().await? else { return Ok(Next::Soon) };
        while !log.check_entries(&mut check).await? {
            sleep(PAUSE_AFTER_TILE).await;
        }
        for tile in check.repaired_tiles() {
            let tenant = tenant.id();
            tracing::error!(%tenant, %tile, "tile of the log was missing or damaged: computed again from the entries");
        }
        self.checked = Some((Instant::now(), number));
        if let Some(damage) = log.damage() {
            let (tenant, refuses) = (tenant.id(), matches!(damage, Damage::Changed(_)));
            tracing::error!(%tenant, refuses, "{damage}: the store was edited, or is damaged");
        }
        Ok(Next::In(CHECK_INTERVAL))
    }
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for CheckEntries {
    async fn round(&mut self, tenant: &T) -> Next {
        let Some(log) = tenant.signed_log() else { return Next::Changed };
        match self.check(tenant, log).await {
            Ok(next) => next,
            Err(error) => {
                let tenant = tenant.id();
                tracing::error!(%tenant, error = with_causes(&error), "entries not checked");
                Next::Soon
            }
        }
    }
}
