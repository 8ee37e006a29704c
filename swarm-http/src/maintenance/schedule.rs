//! The schedule stands still while nobody can tell what time it is.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::store::CLOCK_TOLERANCE_MILLIS;

use super::job::{Job, Next};
use crate::clocks::DifferingClocks;
use crate::tenants::ServedTenant;

/// Work that is done at its time: not while the clocks of the store and of this server differ by
/// more than an hour, for then one of them is wrong (API.md, 13.4).
#[derive(Debug)]
pub(super) struct Scheduled<J> {
    work: J,
    clocks: Arc<DifferingClocks>,
}

impl<J> Scheduled<J> {
    pub(super) fn new(work: J, clocks: &Arc<DifferingClocks>) -> Self {
        Self { work, clocks: Arc::clone(clocks) }
    }
}

#[async_trait]
impl<J: Job> Job for Scheduled<J> {
    async fn round(&mut self, tenant: &ServedTenant) -> Next {
        // Without an answer of the store there is nothing to compare, and the work itself says so.
        let differ = match tenant.tenant().now().await {
            Ok(now) => differ(now, system_time()),
            Err(_) => false,
        };
        self.clocks.note(&tenant.config().id, differ);
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
