//! The REST interface and the pages of Swarm, as a tower service or a warp filter.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use swarm_core::domain::AdminTokenHash;
//! use swarm_core::{Swarm, SystemEntropy};
//! use swarm_http::{AdminTokens, Site, TenantConfig};
//! use swarm_store_memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
//! let operator = AdminTokens::single(AdminTokenHash::of(b"choose-sixteen-or-more"));
//! let site = Arc::new(Site::single(swarm, TenantConfig::new("acme".parse()?, operator)));
//! let service = swarm_http::service(&site); // for axum and hyper, or `swarm_server::serve_site(listener, &site, …)`
//! # Ok(())
//! # }
//! ```
//!
//! A member then signs the canonical text of a take with its key (`swarm_core::proof::KeyPair::sign`, or
//! any client), submits it, and reads it back:
//!
//! ```text
//! curl http://127.0.0.1:8080/api/swarm/submit -H "Authorization: Bearer $TOKEN" --json @take.json
//! curl http://127.0.0.1:8080/api/swarm/takes/1
//! ```
//!
//! A [`Site`] serves one or more tenants; its `/skill.md` explains how to become a member. [`service`] turns a
//! site into a tower service for axum and others. `swarm-server` has an accept loop that limits the resources
//! of each client. [`Site::maintenance`] is the background work, to be run alongside the server. The rules are
//! in `swarm-core`; this crate has paths, headers, status codes and pages.
//!
//! In the repository, `docs/embedding.md` is the guide for programs around a site, and `examples/` has whole programs.
//!
//! # Feature flags
//!
//! - `pages` (default): the HTML pages, `/docs` and the feed. Without it, the permalinks of takes and memos answer only
//!   JSON, and `/` the manifest.
//! - `committee` (default): the daily committee (API.md, 8): its routes, its pages and its credentials. Without it, `swarm-core` and
//!   `swarm-maintenance` are built without theirs.
//! - `pictures` (default): the picture of a session for link previews.
//! - `warp`: the functions `site`, `api` and, with `committee`, `committee_api`, which turn a site into warp filters to combine with your own.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod fairness;

mod applications;
mod budget;
mod cache;
mod certificate;
mod client_address;
#[cfg_attr(not(feature = "committee"), path = "without_committee.rs")]
mod committee;
#[cfg(feature = "pages")]
mod console;
mod desk;
mod discovery;
#[cfg(feature = "warp")]
mod filters;
mod following;
mod log_tail;
mod memory_share;
mod metrics;
#[cfg(feature = "pages")]
mod movements;
#[cfg(feature = "pages")]
mod pages;
mod request;
mod response;
mod routes;
mod schema;
mod site;
mod tenants;
mod token_attempts;
mod workers;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use swarm_core::wire;

use request::table::Table;
use response::{Answer, ErrorForm};

pub use certificate::expiry_warning;
pub use client_address::ClientAddress;
#[cfg(feature = "warp")]
pub use filters::*;
pub use prometheus_client;
pub use request::command::{Argument, ArgumentKind, Command, FormPreview, FormTexts};
#[cfg(feature = "committee")]
pub use request::committee_access::CommitteeAccess;
pub use request::credential::Access;
pub use request::{SiteService, body};
pub use response::{Interrupted, ResponseBody};
pub use routes::{BodyFormat, RequestBody, RouteInfo};
pub use site::Site;
pub use tenants::{
    AdminTokens, BasePath, DuplicateOperator, DuplicateTenant, FooterLink, Host, HostTable,
    MemberRequest, MemberSignOn, Operator, OperatorRequest, Operators, OwnFigure, OwnFigures,
    PublicOrigin, Role, ServedTenant, Services, SignOnUnavailable, TenantConfig, TenantDirectory,
    TenantRequest, WitnessConfig,
};

/// Everything that the `swarm` binary serves, as a [tower](https://docs.rs/tower-service) service: the interfaces, the pages, the
/// feed, the guide, the reference, `/healthz`, `/readyz`, `/metrics`, and a 404 for all other paths. It accepts
/// any body type; axum mounts it as a fallback, and the accept loop of `swarm-server` runs it. A router that leaves out the
/// path that it is mounted at wants [`SiteService::nested_at`]. A server that is not that of `swarm-server` says in each request who
/// connects: [`ClientAddress`].
pub fn service(site: &Arc<Site>) -> SiteService {
    let table = Table::new(routes::all(site.parts()), pages::error_pages);
    SiteService::new(Arc::clone(site), table)
}

/// Only `/healthz`, `/readyz` and `/metrics`, for an address that only the operator of the server can reach;
/// see [`Site::operations_apart`]. `/metrics` also has durations and the figures of each tenant there.
pub fn operations(site: &Arc<Site>) -> SiteService {
    let table = Table::new(routes::operations_apart(), pages::error_pages);
    SiteService::new(Arc::clone(site), table)
}

/// The routes of the [`service`], with the credential and the body of each: for a gateway in front of it, and for tests
/// that cover every route.
pub fn routes(site: &Site) -> Vec<RouteInfo> {
    routes::infos(site.parts())
}

/// The verbs of operators, each with the method and the path of its route: for programs that send what operators type.
pub fn operator_commands() -> impl Iterator<Item = (&'static Method, &'static str, &'static Command)>
{
    let routes = routes::of_operators().iter();
    routes.flat_map(|route| route.commands.iter().map(move |it| (&route.method, route.path, it)))
}

/// An answer of the core as a response to a request for this path with these headers, with the headers of every answer of this
/// crate, and those of an error: `Retry-After`, `WWW-Authenticate`, and the `Link` to the take on file, at the root of the host. For
/// servers that answer before a request reaches the [`service`], and for routes of a program's own. An error is one of problem details
/// if the client prefers that (API.md, 1.2); its type is relative, because the origin of such a request may be unknown.
pub fn response<B: From<Bytes>>(
    path: &str,
    request: &HeaderMap,
    answer: wire::Answer,
) -> Response<B> {
    let answer = ErrorForm::of(request, String::new).apply(Answer::from(answer));
    answer.guarded_at(path).into_bytes_response()
}

/// The metrics of a site in the OpenMetrics text format, with all that the operator of the server may see: as in `/metrics`
/// of [`operations`]. Their names begin with `swarm_`, so a program may append them to metrics of its own, without the line
/// `# EOF` that ends those. [`Site::register_metrics`] registers them where a program has a registry.
pub fn metrics(site: &Site) -> String {
    site.metrics.text()
}

/// Answers in place of the pages.
#[cfg(not(feature = "pages"))]
mod pages {
    use std::sync::Arc;

    use http::HeaderMap;

    use crate::request::table::ErrorPage;
    use crate::tenants::ServedTenant;

    /// Errors as JSON, even if a page is preferred.
    pub(crate) fn error_pages(
        _: &HeaderMap,
        _: Option<&Arc<ServedTenant>>,
        _: &str,
        _: &dyn Fn() -> String,
    ) -> ErrorPage {
        Box::new(|answer| answer)
    }
}
