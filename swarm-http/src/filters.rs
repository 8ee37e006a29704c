//! A site as warp filters.

use std::sync::Arc;

use warp::Filter as _;
use warp::filters::BoxedFilter;

use crate::request::filter;
use crate::request::table::Table;
use crate::{Site, pages, routes};

/// Interface A and the pages, below `/api/swarm` and `/swarm`, as a warp filter that rejects unknown paths,
/// so that other filters can answer them. The pages link to `/`, `/feed.xml` and `/docs`, which only
/// [`site`] has, like the guide (`/skill.md`).
///
/// It matches the full path of the request. To serve a tenant below a path, set
/// [`TenantConfig::below`](crate::TenantConfig::below), and combine the filter at the root, not below `warp::path`.
pub fn api(site: &Arc<Site>) -> BoxedFilter<(warp::reply::Response,)> {
    filter::routes(Arc::clone(site), Table::new(routes::api(), pages::error_pages))
}

/// Interface B, the daily committee, as a separate filter; see [`api`].
#[cfg(feature = "committee")]
pub fn committee_api(site: &Arc<Site>) -> BoxedFilter<(warp::reply::Response,)> {
    filter::routes(Arc::clone(site), Table::new(routes::committee::routes(), pages::error_pages))
}

/// Everything that the [`service`](crate::service) answers, as a warp filter.
pub fn site(site: &Arc<Site>) -> BoxedFilter<(warp::reply::Response,)> {
    let unknown = filter::unknown_path(Arc::clone(site), pages::error_pages);
    filter::routes(Arc::clone(site), Table::new(routes::all(site.parts()), pages::error_pages))
        .or(unknown)
        .unify()
        .boxed()
}
