//! Detects that the clocks of the store and of this server disagree, and pauses scheduled work meanwhile.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;
use swarm_core::{TenantId, Timestamp};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

const PAUSED: &str = "scheduled work is paused: \
                      the clocks of the store and of this server differ by more than an hour";

/// The tenants whose scheduled work is paused, because the clock of their store and that of this server differ by more
/// than an hour.
pub struct ClockCheck {
    paused: Mutex<BTreeSet<TenantId>>,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Default for ClockCheck {
    fn default() -> Self {
        Self::with_clock(system_time)
    }
}

impl ClockCheck {
    /// Compares with this clock in place of the system's, for tests that set the clock of the store.
    pub fn with_clock(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { paused: Mutex::default(), now: Box::new(now) }
    }

    /// Returns the warning for health checks, if there is such a tenant.
    pub fn warning(&self) -> Option<String> {
        (!self.lock().is_empty()).then(|| PAUSED.to_owned())
    }

    /// Records the result of one comparison, and logs it when it begins.
    fn note(&self, tenant: &TenantId, differ: bool) {
        if !differ {
            self.lock().remove(tenant);
        } else if self.lock().insert(tenant.clone()) {
            tracing::error!(%tenant, "{PAUSED}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<TenantId>> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job that pauses while the clocks of the store and of this server differ by more than an hour: one of them is
/// wrong (MANUAL.md, 13.4).
#[derive(Debug)]
pub(crate) struct Scheduled<J> {
    job: J,
    clocks: Arc<ClockCheck>,
}

impl<J> Scheduled<J> {
    pub(crate) fn new(job: J, clocks: &Arc<ClockCheck>) -> Self {
        Self { job, clocks: Arc::clone(clocks) }
    }
}

#[async_trait]
impl<T: MaintainedTenant, J: Job<T>> Job<T> for Scheduled<J> {
    async fn round(&mut self, tenant: &T) -> Next {
        // If the store does not answer there is nothing to compare; the job reports the failure.
        let differ = match tenant.tenant().now().await {
            Ok(now) => differ(now, (self.clocks.now)()),
            Err(_) => false,
        };
        self.clocks.note(tenant.id(), differ);
        if differ { Next::Soon } else { self.job.round(tenant).await }
    }
}

fn differ(one: Timestamp, other: Timestamp) -> bool {
    one.millis().abs_diff(other.millis()) > CLOCK_TOLERANCE_MILLIS.unsigned_abs()
}

#[expect(clippy::disallowed_methods, reason = "compared with the clock of the store, which counts")]
fn system_time() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::EPOCH.plus_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

impl fmt::Debug for ClockCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClockCheck").field("paused", &*self.lock()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_by_an_hour() {
        let hour = Timestamp::EPOCH.plus_millis(CLOCK_TOLERANCE_MILLIS);
        assert!(!differ(Timestamp::EPOCH, hour) && !differ(hour, Timestamp::EPOCH));
        let later = hour.plus_millis(1);
        assert!(differ(Timestamp::EPOCH, later) && differ(later, Timestamp::EPOCH));
    }
}
