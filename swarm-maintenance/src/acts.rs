//! Removal of acts of operators that are no longer kept.

use async_trait::async_trait;
use swarm_core::Timestamp;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// The time between two rounds, in milliseconds: one hour.
const INTERVAL_MILLIS: i64 = 60 * 60 * 1_000;

/// Removes the acts of operators from more than 400 days ago (API.md, 7.11).
#[derive(Clone, Copy, Debug, Default)]
pub struct ForgetActs {
    next: Option<Timestamp>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for ForgetActs {
    async fn round(&mut self, served: &T) -> Next {
        let (tenant, what) = (served.tenant(), "acts forgotten");
        let now = match tenant.now().await {
            Ok(now) => now,
            Err(error) => return report(served, what, Err(error)),
        };
        if let Some(next) = self.next.filter(|next| now < *next) {
            return Next::In(now.until(next));
        }
        if let Err(error) = tenant.forget_old_acts().await {
            return report(served, what, Err(error));
        }
        let next = now.plus_millis(INTERVAL_MILLIS);
        self.next = Some(next);
        Next::In(now.until(next))
    }
}
