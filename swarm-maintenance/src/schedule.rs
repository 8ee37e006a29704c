//! Pauses scheduled work while the clocks disagree.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;

use crate::clocks::ClockCheck;
use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// A job that pauses while the clocks of the store and of this server differ by more than an hour: one of them is
/// wrong (API.md, 13.4).
#[derive(Debug)]
pub(crate) struct Scheduled<J> {
    work: J,
    clocks: Arc<ClockCheck>,
}

impl<J> Scheduled<J> {
    pub(crate) fn new(work: J, clocks: &Arc<ClockCheck>) -> Self {
        Self { work, clocks: Arc::clone(clocks) }
    }
}

#[async_trait]
impl<T: MaintainedTenant, J: Job<T>> Job<T> for Scheduled<J> {
    async fn round(&mut self, tenant: &T) -> Next {
        // If the store does not answer there is nothing to compare; the job reports the failure.
        let differ = match tenant.tenant().now().await {
            Ok(now) => differ(now, system_time()),
            Err(_) => false,
        };
        self.clocks.note(tenant.id(), differ);
        if differ { Next::Soon } else { self.work.round(tenant).await }
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
