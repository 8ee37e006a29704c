//! The schedule of a committee.

use async_trait::async_trait;
use swarm_core::service::with_causes;
use swarm_core::{CommitteeError, CommitteeRefusal};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// Generates the briefs of a committee at their time, or later if no server ran then.
#[derive(Debug, Default)]
pub struct GenerateBriefs {
    /// The last refusal that was logged, so that each is logged once and not every round.
    refused: Option<CommitteeRefusal>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for GenerateBriefs {
    async fn round(&mut self, served: &T) -> Next {
        let Some(committee) = served.committee() else { return Next::Changed };
        let tenant = served.id();
        let generated = match committee.until_due().await {
            Ok(wait) if !wait.is_zero() => {
                self.refused = None;
                return Next::In(wait);
            }
            Ok(_) => committee.generate_if_due().await,
            Err(error) => Err(error),
        };
        match generated {
            // The committee has no members, or another server generated them.
            Ok(None) => self.refused = None,
            Ok(Some(made)) => {
                tracing::info!(%tenant, briefs = made.briefs, "briefs generated");
                return Next::Soon;
            }
            Err(CommitteeError::Refused(refusal)) => {
                if self.refused.as_ref() != Some(&refusal) {
                    tracing::warn!(%tenant, %refusal, "no briefs generated");
                }
                self.refused = Some(refusal);
            }
            Err(error) => {
                tracing::error!(%tenant, error = with_causes(&error), "no briefs generated");
                return Next::Soon;
            }
        }
        Next::Changed
    }
}
