//! The windows of sessions, and the schedule.

use std::collections::BTreeMap;

use async_trait::async_trait;
use swarm_core::Refusal;
use swarm_core::service::{BlindSessions, ConvenedWindows, with_causes};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next, report};

/// Convenes the sessions of the schedule, publishes their briefs, and aggregates and publishes them and those that the
/// server finishes, each at its time, or later if no server ran then.
#[derive(Debug, Default)]
pub struct FollowSchedule {
    /// What is known of the windows that are open.
    known: ConvenedWindows,
    /// The windows that were skipped in the last round, so that each is logged once and not every round.
    skipped: BTreeMap<String, Refusal>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for FollowSchedule {
    async fn round(&mut self, served: &T) -> Next {
        let tenant = served.id();
        let did = match served.tenant().run_schedule(served.schedule(), &mut self.known).await {
            Ok(did) => did,
            Err(error) => {
                tracing::error!(%tenant, error = with_causes(&error), "schedule not followed");
                return Next::Soon;
            }
        };
        for (session, step) in did.steps {
            tracing::info!(%tenant, %session, "session {} by the schedule", step.as_str());
        }
        for (window, refusal) in &did.skipped {
            if self.skipped.get(window) != Some(refusal) {
                let refusal = refusal.explained();
                tracing::warn!(%tenant, window, refusal, "no session convened by the schedule");
            }
        }
        self.skipped = did.skipped.into_iter().collect();
        Next::after(did.round)
    }
}

/// Moves sessions that collect takes past their deadline to `window_closed`, and opens blind sessions.
#[derive(Clone, Debug, Default)]
pub struct CloseWindows {
    blind: BlindSessions,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for CloseWindows {
    async fn round(&mut self, tenant: &T) -> Next {
        let closed = tenant.tenant().close_due_sessions().await;
        let closed = report(tenant, "windows closed", closed);
        let opened = tenant.tenant().open_due_sessions(&mut self.blind).await;
        closed.sooner(report(tenant, "blind sessions opened", opened))
    }
}
