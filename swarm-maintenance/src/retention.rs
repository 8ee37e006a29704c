//! Erasure of unsuccessful applications after their retention.

use async_trait::async_trait;
use swarm_core::Timestamp;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// The time between two rounds, in milliseconds: one hour. A round reads all applications that are pending
/// or rejected, so not every change of the tenant starts one.
const INTERVAL_MILLIS: i64 = 60 * 60 * 1_000;

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
