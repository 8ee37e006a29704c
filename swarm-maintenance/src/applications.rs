//! Expiry of applications, and their erasure after the retention period.

use async_trait::async_trait;
use swarm_core::Timestamp;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// The longest time between two rounds, in milliseconds: one hour. An application is removed or erased at most this long
/// after it is due. A round reads all pending applications, so not every change of the tenant starts one.
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

/// Erases name, contact and lens of applications that were rejected or have been pending for longer than the
/// tenant retains them (API.md, 7.8).
#[derive(Clone, Copy, Debug, Default)]
pub struct EraseApplications {
    next: Option<Timestamp>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for EraseApplications {
    async fn round(&mut self, served: &T) -> Next {
        let (tenant, what) = (served.tenant(), "applications erased");
        if tenant.application_retention().is_none() {
            return Next::Changed;
        }
        let now = match tenant.now().await {
            Ok(now) => now,
            Err(error) => return report(served, what, Err(error)),
        };
        if let Some(next) = self.next.filter(|next| now < *next) {
            return Next::In(now.until(next));
        }
        if report(served, what, tenant.erase_old_applications().await) == Next::Soon {
            return Next::Soon;
        }
        let next = now.plus_millis(INTERVAL_MILLIS);
        self.next = Some(next);
        Next::In(now.until(next))
    }
}
