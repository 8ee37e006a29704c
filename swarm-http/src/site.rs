//! What is served, and what belongs to the server as a whole.

use std::sync::Arc;
use std::thread::available_parallelism;

use swarm_core::store::Readiness;
use swarm_core::{CommitteeTenant, Error, Tenant, TenantId};

use tokio::sync::Semaphore;

use crate::metrics::Metrics;
use crate::tenants::{DuplicateHost, Hosts, OpenTenant, Services, TenantConfig};

/// What is served: the services, and the tenants that its hosts stand for.
pub struct Site {
    pub(crate) services: Services,
    pub(crate) hosts: Hosts,
    pub(crate) metrics: Metrics,
    /// Turns for diagnoses.
    pub(crate) diagnoses: Arc<Semaphore>,
}

impl Site {
    /// One tenant on every host. A [`Swarm`](swarm_core::Swarm) alone serves interface A; with
    /// [`Committees`](swarm_core::Committees) beside it, interface B too.
    pub fn single(services: impl Into<Services>, tenant: TenantConfig) -> Self {
        let services = services.into();
        let hosts = Hosts::single(&services, tenant);
        Self { hosts, services, metrics: Metrics::default(), diagnoses: few() }
    }

    /// Tenants by the host that a request names; an unknown host is refused (contract, section 1).
    ///
    /// # Errors
    /// [`DuplicateHost`] when a host is named twice.
    pub fn by_host(
        services: impl Into<Services>,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, DuplicateHost> {
        let services = services.into();
        let hosts = Hosts::by_name(&services, tenants)?;
        Ok(Self { hosts, services, metrics: Metrics::default(), diagnoses: few() })
    }

    /// The tenants that are served, for work that no request asks for.
    pub fn tenants(&self) -> Vec<(TenantId, Tenant)> {
        let served = self.hosts.served();
        served.iter().map(|served| (served.id.clone(), served.tenant.clone())).collect()
    }

    /// Their committees, where there are any.
    pub fn committees(&self) -> Vec<(TenantId, Arc<CommitteeTenant>)> {
        let served = self.hosts.served();
        let committee =
            |served: &Arc<OpenTenant>| Some((served.id.clone(), served.committee.clone()?));
        served.iter().filter_map(committee).collect()
    }

    /// Asks the store whether it is ready, as `/readyz` does, and counts what it warns of in
    /// `swarm_store_warnings` of `/metrics`. To be called once before serving, so that the count is
    /// right from the beginning.
    ///
    /// # Errors
    /// [`Error::Store`] when it gives no sign of life, or must not be relied on.
    pub async fn ready(&self) -> Result<Readiness, Error> {
        let readiness = self.services.swarm.ready().await?;
        self.metrics.store_warns(readiness.warnings.len());
        Ok(readiness)
    }

    /// Lets `X-Forwarded-Host` and `X-Forwarded-Proto` name the origin in use, for servers that only
    /// a proxy can reach.
    #[must_use]
    pub fn trust_forwarded(mut self, trust: bool) -> Self {
        self.hosts.trust_forwarded = trust;
        self
    }
}

/// A diagnosis is the most work that a stranger can ask for: half the processors are for it, at
/// most, so that it keeps nobody else waiting.
fn few() -> Arc<Semaphore> {
    let processors = available_parallelism().map_or(1, |count| count.get());
    Arc::new(Semaphore::new((processors / 2).max(1)))
}
