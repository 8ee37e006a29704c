//! What work that comes round again is.

use async_trait::async_trait;
use swarm_core::Error;

use crate::tenants::ServedTenant;

/// One kind of work for one tenant, which comes round again and again. What it keeps from round to
/// round is its own.
#[async_trait]
pub trait Job: Send + 'static {
    /// Does what there is to do now. What goes wrong is logged, and tried again next time.
    async fn round(&mut self, tenant: &ServedTenant);
}

/// Logs what a round came to, where it came to anything.
pub(super) fn report(tenant: &ServedTenant, what: &str, done: Result<usize, Error>) {
    let tenant = &tenant.config().id;
    match done {
        Ok(0) => {}
        Ok(count) => tracing::info!(%tenant, count, "{what}"),
        Err(error) => tracing::error!(%tenant, error = &error as &dyn std::error::Error, "{what}"),
    }
}
