//! What is served, and what belongs to the server as a whole.

use std::sync::Arc;

use http::HeaderMap;
use prometheus_client::metrics::gauge::Gauge;
use swarm_core::store::{ChangeFeed, Readiness};
use swarm_core::{CommitteeTenant, Error, Tenant, TenantId};
use swarm_maintenance::{ClockCheck, Directory, MaintainedTenant, Maintenance};
use tokio::sync::Semaphore;

use crate::budget::Budget;
use crate::cache::AnswerCache;
use crate::fairness::{Client, Scheduler, processors};
use crate::forwarded::forwarded_address;
use crate::metrics::{CountRecords, Metrics};
use crate::tenants::{
    DuplicateTenant, EveryHost, HostTable, OpenTenants, ServedTenant, Services, TenantConfig,
    TenantDirectory, TenantRequest,
};
use crate::workers::WorkerPool;

/// What is served: the services, and the tenants of a directory.
pub struct Site {
    tenants: OpenTenants,
    directory: Box<dyn TenantDirectory>,
    pub(crate) origins: Origins,
    pub(crate) metrics: Metrics,
    operations_apart: bool,
    /// The memory for bodies and answers in flight.
    pub(crate) budget: Budget,
    /// Knows the clients whose addresses a trusted proxy forwards.
    scheduler: Scheduler,
    pub(crate) workers: Arc<WorkerPool>,
    pub(crate) cache: Arc<AnswerCache>,
    clocks: Arc<ClockCheck>,
    /// Limits how many diagnoses run at once.
    pub(crate) diagnoses: Arc<Semaphore>,
}

/// Which optional routes a site has.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// Interface B.
    pub(crate) committees: bool,
    /// Health, readiness and metrics.
    pub(crate) operations: bool,
}

impl Parts {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: Self = Self { committees: true, operations: true };
}

/// What origins go by, beside the host that a request names.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origins {
    /// Whether the headers of a proxy name the origin.
    pub(crate) trust_forwarded: bool,
    /// Whether requests came over TLS, as far as no proxy says otherwise.
    pub(crate) over_tls: bool,
}

impl Site {
    /// The tenants of this directory, which may change while they are served. A
    /// [`Swarm`](swarm_core::Swarm) alone serves interface A; with
    /// [`Committees`](swarm_core::Committees) beside it, interface B too.
    pub fn new(services: impl Into<Services>, directory: impl TenantDirectory) -> Self {
        let workers = Arc::<WorkerPool>::default();
        Self {
            tenants: OpenTenants::new(services.into()),
            directory: Box::new(directory),
            origins: Origins::default(),
            metrics: Metrics::default(),
            operations_apart: false,
            budget: Budget::default(),
            scheduler: Scheduler::default(),
            cache: Arc::new(AnswerCache::new(Arc::clone(&workers))),
            workers,
            clocks: Arc::default(),
            diagnoses: few(),
        }
    }

    /// One tenant on every host.
    pub fn single(services: impl Into<Services>, tenant: TenantConfig) -> Self {
        Self::new(services, EveryHost(Arc::new(tenant)))
    }

    /// Tenants by the host that a request names; an unknown host is refused (API.md, 2.1).
    /// To change them later, keep a [`HostTable`] and hand it to [`new`](Self::new).
    ///
    /// # Errors
    /// [`DuplicateTenant`] when a host or an id is named twice.
    pub fn by_host(
        services: impl Into<Services>,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, DuplicateTenant> {
        let table = HostTable::new();
        table.replace(tenants)?;
        Ok(Self::new(services, table))
    }

    /// Lets `X-Forwarded-Host` and `X-Forwarded-Proto` name the origin in use, and the last address of
    /// `X-Forwarded-For` the client, for servers that only a proxy can reach.
    #[must_use]
    pub fn trust_forwarded(mut self, trust: bool) -> Self {
        self.origins.trust_forwarded = trust;
        self
    }

    /// Has links begin with `https`, for a program that ends TLS itself before it hands a request to the
    /// [`service`](crate::service). Where a proxy is trusted, its `X-Forwarded-Proto` says it.
    #[must_use]
    pub fn over_tls(mut self, is: bool) -> Self {
        self.origins.over_tls = is;
        self
    }

    /// Leaves `/healthz`, `/readyz` and `/metrics` out of the [`service`](crate::service), for a server that answers them
    /// on another address with [`operations`](crate::operations).
    #[must_use]
    pub fn operations_apart(mut self, apart: bool) -> Self {
        self.operations_apart = apart;
        self
    }

    /// The routes that the site has beside those of every site.
    pub(crate) fn parts(&self) -> Parts {
        Parts { committees: self.has_committees(), operations: !self.operations_apart }
    }

    /// Has `/metrics` count, as `swarm_log_lines_dropped_total`, the lines of the log that whoever
    /// writes it had to drop: all since the start.
    #[must_use]
    pub fn with_dropped_log_lines(mut self, dropped: fn() -> u64) -> Self {
        self.metrics.count_dropped_log_lines(dropped);
        self
    }

    /// The gauge `swarm_connections` of `/metrics`, which the server that accepts connections keeps.
    pub fn connections(&self) -> Gauge {
        self.metrics.connections()
    }

    /// The tenants that are served now, for background work.
    pub fn tenants(&self) -> Vec<Arc<ServedTenant>> {
        self.tenants.retain(self.directory.tenants())
    }

    /// The tenant of this id, while it is served.
    pub fn tenant(&self, id: &TenantId) -> Option<Arc<ServedTenant>> {
        self.directory.tenant(id).map(|config| self.tenants.get(config))
    }

    /// Whether the site serves interface B.
    pub fn has_committees(&self) -> bool {
        self.tenants.services().committees.is_some()
    }

    /// The background work for the tenants of the site, and the counts of `/metrics`. Add the delivery of mail, and run
    /// it beside the server.
    pub fn maintenance(self: &Arc<Self>) -> Maintenance<Self> {
        let site = Arc::clone(self);
        Maintenance::new(self, &self.clocks)
            .with(move || CountRecords::new(site.metrics.figures_of_tenant()))
    }

    /// Asks the store whether it is ready, as `/readyz` does, and counts what it warns of in
    /// `swarm_store_warnings` of `/metrics`, where a store that is not ready counts as one warning. To be
    /// called once before serving, so that the count is right from the beginning.
    ///
    /// # Errors
    /// [`Error::Store`] when it gives no sign of life, or must not be relied on.
    pub async fn ready(&self) -> Result<Readiness, Error> {
        let mut ready = self.tenants.services().swarm.ready().await;
        if let Ok(readiness) = &mut ready {
            readiness.warnings.extend(self.clocks.warning());
        }
        self.metrics.store_warns(ready.as_ref().map_or(1, |readiness| readiness.warnings.len()));
        ready
    }

    /// The client whose address a trusted proxy forwards.
    pub(crate) fn forwarded_client(&self, headers: &HeaderMap) -> Option<Arc<Client>> {
        let address = self.origins.trust_forwarded.then(|| forwarded_address(headers)).flatten();
        address.map(|address| self.scheduler.client(address))
    }

    /// The tenant that a request is for.
    pub(crate) fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<ServedTenant>> {
        self.directory.find(request).map(|config| self.tenants.get(config))
    }
}

impl Directory for Site {
    type Tenant = ServedTenant;

    fn tenants(&self) -> Vec<Arc<ServedTenant>> {
        Self::tenants(self)
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<ServedTenant>> {
        Self::tenant(self, id)
    }

    fn changes(&self) -> Option<&Arc<dyn ChangeFeed>> {
        self.tenants.services().changes.as_ref()
    }
}

impl MaintainedTenant for ServedTenant {
    fn id(&self) -> &TenantId {
        &self.config().id
    }

    fn tenant(&self) -> &Tenant {
        Self::tenant(self)
    }

    fn committee(&self) -> Option<&CommitteeTenant> {
        Self::committee(self)
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("tenants", &self.directory.tenants()).finish_non_exhaustive()
    }
}

/// A diagnosis is the most expensive work that a stranger can ask for: at most half the processors
/// work on diagnoses, so that other requests do not wait.
fn few() -> Arc<Semaphore> {
    Arc::new(Semaphore::new((processors() / 2).max(1)))
}
