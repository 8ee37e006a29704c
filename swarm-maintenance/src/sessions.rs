//! The schedule of a tenant's sessions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use swarm_core::Refusal;
use swarm_core::service::with_causes;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// Convenes the sessions of the schedule, publishes their briefs, and aggregates and publishes them, each at its time,
/// or later if no server ran then.
#[derive(Debug, Default)]
pub struct FollowSchedule {
    /// The occasions that were skipped in the last round, so that each is logged once and not every round.
    skipped: BTreeMap<String, Refusal>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for FollowSchedule {
    async fn round(&mut self, served: &T) -> Next {
        if served.schedule().entries().is_empty() {
            return Next::Changed;
        }
        let tenant = served.id();
        let did = match served.tenant().follow(served.schedule()).await {
            Ok(did) => did,
            Err(error) => {
                tracing::error!(%tenant, error = with_causes(&error), "schedule not followed");
                return Next::Soon;
            }
        };
        for (session, step) in did.steps {
            tracing::info!(%tenant, %session, "session {} by the schedule", step.as_str());
        }
        for (occasion, refusal) in &did.skipped {
            if self.skipped.get(occasion) != Some(refusal) {
                tracing::warn!(%tenant, occasion, %refusal, "no session convened by the schedule");
            }
        }
        self.skipped = did.skipped.into_iter().collect();
        Next::after(did.round)
    }
}
