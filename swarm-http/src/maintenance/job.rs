//! Work that is done again and again.

use std::time::Duration;

use async_trait::async_trait;
use swarm_core::{Error, Round};

use crate::tenants::ServedTenant;

/// How long after a round the next one begins at the earliest: windows close within 15 s of their
/// deadline.
pub const PAUSE: Duration = Duration::from_secs(5);

/// One kind of recurring work for one tenant. It may keep state between rounds.
#[async_trait]
pub trait Job: Send + 'static {
    /// Does what is due now. Errors are logged, and the work is retried in the next round.
    async fn round(&mut self, tenant: &ServedTenant) -> Next;
}

/// When the round after this one is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After the [`PAUSE`] between rounds.
    Soon,
    /// After this time, or when the tenant has changed.
    In(Duration),
    /// When the tenant has changed.
    Changed,
}

impl Next {
    /// The round that what waits for its time asks for.
    fn after(round: Round) -> Self {
        round.next_in.map_or(Self::Changed, Self::In)
    }
}

/// Logs the result of a round, unless there was nothing to do.
pub(super) fn report(tenant: &ServedTenant, what: &str, round: Result<Round, Error>) -> Next {
    let tenant = &tenant.config().id;
    match round {
        Ok(round) => {
            if round.done > 0 {
                tracing::info!(%tenant, count = round.done, "{what}");
            }
            Next::after(round)
        }
        Err(error) => {
            tracing::error!(%tenant, error = &error as &dyn std::error::Error, "{what}");
            Next::Soon
        }
    }
}
