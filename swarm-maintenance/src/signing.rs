//! Signing of the log.

use std::time::Duration;

use async_trait::async_trait;
use swarm_core::service::signed_log::Signing;
use swarm_core::service::with_causes;

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// Signs a checkpoint of the log within two seconds of a commit (API.md, 11.6). Of several servers, one does it.
#[derive(Debug, Default)]
pub struct SignLog {
    /// The outcome of the last round, so that an unchanged outcome is logged once.
    last: Option<Signing>,
}

#[async_trait]
impl<T: MaintainedTenant> Job<T> for SignLog {
    async fn round(&mut self, served: &T) -> Next {
        let Some(log) = served.signed_log() else { return Next::Changed };
        let tenant = served.id();
        let signing = match log.sign().await {
            Ok(signing) => signing,
            Err(error) => {
                tracing::error!(%tenant, error = with_causes(&error), "log not signed");
                return Next::Soon;
            }
        };
        let next = if signing == Signing::Contended { Next::Soon } else { Next::Changed };
        if self.last.as_ref() != Some(&signing) {
            match &signing {
                Signing::WentBack => tracing::error!(
                    %tenant,
                    "the log does not continue the checkpoint that was signed last: the store was wiped, restored or \
                     failed over; commits are refused until an operator accepts the store"
                ),
                Signing::ForeignKey => tracing::error!(
                    %tenant,
                    "log not signed: another key signed the last checkpoint; accept this server's key if the \
                     change is intended"
                ),
                _ => {}
            }
        }
        self.last = Some(signing);
        next
    }

    /// A change is noticed within a second. With this pause, a checkpoint follows less than two seconds after it.
    fn pause(&self) -> Duration {
        Duration::from_millis(300)
    }
}
