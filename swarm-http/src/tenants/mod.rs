//! Tenants: their settings, the directory that finds them by request, their operators and their members.

mod base_path;
#[cfg(feature = "committee")]
mod committee;
mod config;
mod host;
mod host_table;
mod members;
mod open_tenants;
mod operators;
mod own_figures;

use std::sync::Arc;

use http::{Extensions, HeaderMap};
use swarm_core::TenantId;

pub use base_path::BasePath;
pub use config::{FooterLink, Services, TenantConfig, WitnessConfig};
pub use host::{Host, PublicOrigin};
pub(crate) use host_table::EveryHost;
pub use host_table::{DuplicateTenant, HostTable};
pub use members::{MemberRequest, MemberSignOn};
pub(crate) use open_tenants::OpenTenants;
pub use open_tenants::ServedTenant;
pub(crate) use operators::{ADMIN_TOKEN, single_header};
pub use operators::{
    AdminTokens, DuplicateOperator, Operator, OperatorRequest, Operators, Role, SignOnUnavailable,
};
pub use own_figures::{OwnFigure, OwnFigures};

/// The tenants of a site, and which of them a request is for.
///
/// Every request and the maintenance jobs call it, so it must answer from memory. Its answers may change
/// at any time and take effect with the next request. A tenant whose settings change must come in a new
/// [`Arc`]; returning the same `Arc` avoids opening the tenant again.
///
/// [`HostTable`] is the implementation by host.
pub trait TenantDirectory: Send + Sync + 'static {
    /// The tenant that this request is for; `None` is answered with 421, or with 404 if the directory is not
    /// [by host](Self::is_by_host). A path that is not below the base path of the
    /// tenant is answered with 404, except for the files of its log below `/swarm/log/<tenant>` (API.md, 2.3).
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>>;

    /// The tenant with this id.
    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>>;

    /// All tenants, each once.
    fn tenants(&self) -> Vec<Arc<TenantConfig>>;

    /// Whether the host of a request decides, alone or with the path. Where the path alone does, a request for no tenant has an unknown
    /// path, and not an unknown host.
    fn is_by_host(&self) -> bool {
        true
    }
}

/// The parts of a request by which a directory finds the tenant.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TenantRequest<'a> {
    /// The host that the client used, with an optional port; if the site trusts proxies, the forwarded one.
    pub host: Option<&'a Host>,
    /// The path as the client sent it, not decoded. It begins with the [base path](TenantConfig::base_path) of the tenant.
    pub path: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions, in which a program around the [`service`](crate::service) passes on what it knows of the request.
    /// A warp filter has none.
    pub extensions: &'a Extensions,
}

impl<'a> TenantRequest<'a> {
    pub(crate) fn new(
        host: Option<&'a Host>,
        path: &'a str,
        headers: &'a HeaderMap,
        extensions: &'a Extensions,
    ) -> Self {
        Self { host, path, headers, extensions }
    }
}

impl<T: TenantDirectory + ?Sized> TenantDirectory for Arc<T> {
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
        (**self).find(request)
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>> {
        (**self).tenant(id)
    }

    fn tenants(&self) -> Vec<Arc<TenantConfig>> {
        (**self).tenants()
    }

    fn is_by_host(&self) -> bool {
        (**self).is_by_host()
    }
}
