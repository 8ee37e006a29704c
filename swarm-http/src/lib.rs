//! The REST interface of Swarm.
//!
//! [`Site`] says which tenants are served; [`api`] makes a warp filter of it, to mount beside
//! filters of your own, and [`site`] one that answers every request. [`server::serve`] runs a
//! filter behind an accept loop with bounds. The rules are those of `swarm-core`; what stands here
//! is the wire: paths, headers, status codes, pages.

pub mod server;

mod door;
mod metrics;
mod request;
mod response;
mod routes;
mod site;
mod tenants;

use std::sync::Arc;

use warp::Filter as _;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use request::dispatch;
use request::route::Route;

pub use request::body;
pub use site::Site;
pub use tenants::{DuplicateHost, Services, TenantConfig};

/// The interface as a warp filter that leaves paths it does not know to other filters.
///
/// It goes by the full path of the request: mount it at the root, not below a prefix.
pub fn api(site: &Arc<Site>) -> BoxedFilter<(Response,)> {
    dispatch::filter(Arc::clone(site), interface_a())
}

/// Interface B, the daily committee, as a filter of its own; see [`api`].
pub fn committee_api(site: &Arc<Site>) -> BoxedFilter<(Response,)> {
    dispatch::filter(Arc::clone(site), routes::committee())
}

/// Everything that the `swarm` binary serves: the interfaces, `/healthz`, `/readyz`, `/metrics`, and
/// a 404 for all other paths.
pub fn site(site: &Arc<Site>) -> BoxedFilter<(Response,)> {
    let mut routes = interface_a();
    if site.services.committees.is_some() {
        routes.extend(routes::committee());
    }
    routes.extend(door::signposts());
    routes.extend(routes::operations());
    let unknown = dispatch::unknown_path(Arc::clone(site));
    dispatch::filter(Arc::clone(site), routes).or(unknown).unify().boxed()
}

fn interface_a() -> Vec<Route> {
    routes::api().into_iter().chain(door::help()).collect()
}
