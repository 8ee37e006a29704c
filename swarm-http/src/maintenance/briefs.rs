//! The schedule of a committee.

use async_trait::async_trait;
use swarm_core::{CommitteeError, CommitteeRefusal};

use super::job::{Job, Next};
use crate::tenants::ServedTenant;

/// Generates the briefs of a committee at their time, or later where no server was up then.
#[derive(Debug, Default)]
pub struct GenerateBriefs {
    /// Why nothing was generated, as it was logged last: once, not every round.
    refused: Option<CommitteeRefusal>,
}

#[async_trait]
impl Job for GenerateBriefs {
    async fn round(&mut self, served: &ServedTenant) -> Next {
        let Some(committee) = served.committee() else { return Next::Changed };
        let tenant = &served.config().id;
        let generated = match committee.until_due().await {
            Ok(wait) if !wait.is_zero() => {
                self.refused = None;
                return Next::In(wait);
            }
            Ok(_) => committee.generate_if_due().await,
            Err(error) => Err(error),
        };
        match generated {
            // There is nobody to write for, or another server did it.
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
                let error = &error as &dyn std::error::Error;
                tracing::error!(%tenant, error, "no briefs generated");
                return Next::Soon;
            }
        }
        // Until then nothing else would come of it.
        Next::Changed
    }
}
