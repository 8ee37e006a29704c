//! Recurring work for one tenant.

use std::time::Duration;

use async_trait::async_trait;
use swarm_core::service::with_causes;
use swarm_core::{Error, Round};

use crate::directory::MaintainedTenant;

/// Shortest time between two rounds of a job: windows close within 15 s of their deadline.
pub const PAUSE: Duration = Duration::from_secs(5);

/// One kind of recurring work for one tenant. It may keep state between rounds.
#[async_trait]
pub trait Job<T: MaintainedTenant>: Send + 'static {
    /// Does what is due now. Errors are logged, and the work is retried in the next round.
    async fn round(&mut self, tenant: &T) -> Next;

    /// The shortest time between two rounds, unless [`Maintenance::pausing_at_most`] is shorter.
    ///
    /// [`Maintenance::pausing_at_most`]: crate::Maintenance::pausing_at_most
    fn pause(&self) -> Duration {
        PAUSE
    }
}

/// When the round after this one is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// After the [`PAUSE`] between rounds.
    Soon,
    /// After this time, or when the tenant has changed.
    In(Duration),
    /// When the tenant has changed.
    Changed,
}

impl Next {
    /// When the work that `round` left is due.
    pub(crate) fn after(round: Round) -> Self {
        round.next_in.map_or(Self::Changed, Self::In)
    }

    /// The one of two that is due first.
    pub(crate) fn sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::Soon, _) | (_, Self::Soon) => Self::Soon,
            (Self::In(one), Self::In(other)) => Self::In(one.min(other)),
            (Self::In(time), Self::Changed) | (Self::Changed, Self::In(time)) => Self::In(time),
            (Self::Changed, Self::Changed) => Self::Changed,
        }
    }
}

/// Logs the result of a round, unless there was nothing to do. `what` says what was done; if it failed, that is not what
/// happened, and the line says so first.
pub(crate) fn report<T: MaintainedTenant>(
    tenant: &T,
    what: &str,
    round: Result<Round, Error>,
) -> Next {
    let tenant = tenant.id();
    match round {
        Ok(round) => {
            if round.done > 0 {
                tracing::info!(%tenant, count = round.done, "{what}");
            }
            Next::after(round)
        }
        Err(error) => {
            tracing::error!(%tenant, error = with_causes(&error), "failed: {what}");
            Next::Soon
        }
    }
}
