//! Expiry of applications.

use async_trait::async_trait;
use swarm_core::Timestamp;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// Longest time between two rounds. An application is removed at most this long after it expires.
const INTERVAL_MILLIS: i64 = 60 * 60 * 1_000;

const DAY_MILLIS: i64 = 24 * INTERVAL_MILLIS;

/// Removes applications that no operator has reviewed within the tenant's `pending_days`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExpireApplications {
    last: Option<LastRound>,
}

/// The number of days of the last round, and when the next one is due by the store's clock.
#[derive(Clone, Copy, Debug)]
struct LastRound {
    days: u32,
    next: Timestamp,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for ExpireApplications {
    async fn round(&mut self, served: &T) -> Next {
        let (tenant, what) = (served.tenant(), "applications expired");
        let now = match tenant.now().await {
            Ok(now) => now,
            Err(error) => return report(served, what, Err(error)),
        };
        let days = tenant.quotas().pending_days;
        // It reads all pending applications, so not every change of the tenant starts one.
        if let Some(last) = self.last.filter(|last| last.days == days && now < last.next) {
            return Next::In(now.until(last.next));
        }
        let expired = tenant.expire_applications().await;
        let interval = INTERVAL_MILLIS.min(i64::from(days) * DAY_MILLIS);
        match report(served, what, expired) {
            Next::Soon => Next::Soon,
            _ => {
                let next = now.plus_millis(interval);
                self.last = Some(LastRound { days, next });
                Next::In(now.until(next))
            }
        }
    }
}
