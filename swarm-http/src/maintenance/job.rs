//! Work that is done again and again.

use async_trait::async_trait;
use swarm_core::Error;

use crate::tenants::ServedTenant;

/// One kind of recurring work for one tenant. It may keep state between rounds.
#[async_trait]
pub trait Job: Send + 'static {
    /// Does what is due now. Errors are logged, and the work is retried in the next round.
    async fn round(&mut self, tenant: &ServedTenant);
}

/// Logs the result of a round, unless there was nothing to do.
pub(super) fn report(tenant: &ServedTenant, what: &str, done: Result<usize, Error>) {
    let tenant = &tenant.config().id;
    match done {
        Ok(0) => {}
        Ok(count) => tracing::info!(%tenant, count, "{what}"),
        Err(error) => tracing::error!(%tenant, error = &error as &dyn std::error::Error, "{what}"),
    }
}
