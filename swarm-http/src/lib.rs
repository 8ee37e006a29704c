//! The REST interface of Swarm.
//!
//! [`Site`] says which tenants are served; [`api`] makes a warp filter of it, to mount beside
//! filters of your own, and [`site`] one that answers every request. [`server::serve`] runs a
//! filter behind an accept loop with bounds. The rules are those of `swarm-core`; what stands here
//! is the wire: paths, headers, status codes, pages.

pub mod body;
pub mod server;

mod call;
mod credential;
mod dispatch;
mod metrics;
mod page;
mod public;
mod reply;
mod request_id;
mod route;
mod routes;
mod tenants;
mod watched;
mod wire;

use std::sync::Arc;

use swarm_core::{Swarm, Tenant, TenantId};
use warp::Filter as _;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use metrics::Metrics;
use tenants::Hosts;

pub use tenants::{HostTaken, TenantConfig};

/// What is served: one service, and the tenants that its hosts stand for.
pub struct Site {
    swarm: Swarm,
    hosts: Hosts,
    metrics: Metrics,
}

impl Site {
    /// One tenant on every host.
    pub fn single(swarm: Swarm, tenant: TenantConfig) -> Self {
        let hosts = Hosts::single(&swarm, tenant);
        Self { hosts, swarm, metrics: Metrics::default() }
    }

    /// Tenants by the host that a request names; an unknown host is refused (contract, section 1).
    ///
    /// # Errors
    /// [`HostTaken`] when a host is named twice.
    pub fn by_host(
        swarm: Swarm,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, HostTaken> {
        let hosts = Hosts::by_name(&swarm, tenants)?;
        Ok(Self { hosts, swarm, metrics: Metrics::default() })
    }

    /// The tenants that are served, for work that no request asks for.
    pub fn tenants(&self) -> Vec<(TenantId, Tenant)> {
        self.hosts.tenants()
    }

    /// Lets `X-Forwarded-Host` and `X-Forwarded-Proto` name the origin in use, for servers that only
    /// a proxy can reach.
    #[must_use]
    pub fn trust_forwarded(mut self, trust: bool) -> Self {
        self.hosts.trust_forwarded = trust;
        self
    }
}

/// The interface as a warp filter that leaves paths it does not know to other filters.
///
/// It goes by the full path of the request: mount it at the root, not below a prefix.
pub fn api(site: &Arc<Site>) -> BoxedFilter<(Response,)> {
    dispatch::filter(Arc::clone(site), routes::api())
}

/// Everything that the `swarm` binary serves: the interface, `/healthz`, `/readyz`, `/metrics`, and
/// a 404 for all other paths.
pub fn site(site: &Arc<Site>) -> BoxedFilter<(Response,)> {
    let mut routes = routes::api();
    routes.extend(routes::operations());
    let unknown = dispatch::unknown_path(Arc::clone(site));
    dispatch::filter(Arc::clone(site), routes).or(unknown).unify().boxed()
}
