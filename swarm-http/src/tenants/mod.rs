//! Tenants: their settings, the directory that finds them by request, and their operators.

mod config;
mod host;
mod host_table;
mod open_tenants;
mod operators;

use std::sync::Arc;

use http::HeaderMap;
use swarm_core::TenantId;

pub use config::{FooterLink, Services, TenantConfig, WitnessConfig};
pub use host::{Host, PublicOrigin};
pub(crate) use host_table::EveryHost;
pub use host_table::{DuplicateTenant, HostTable};
pub(crate) use open_tenants::OpenTenants;
pub use open_tenants::ServedTenant;
pub(crate) use operators::{ADMIN_TOKEN, single_header};
pub use operators::{AdminTokens, DuplicateOperator, Operator, Operators, Role};

/// The tenants of a site, and which of them a request is for.
///
/// Every request and the maintenance jobs call it, so it must answer from memory. Its answers may change
/// at any time and take effect with the next request. A tenant whose settings change must come in a new
/// [`Arc`]; returning the same `Arc` avoids opening the tenant again.
///
/// [`HostTable`] is the implementation by host.
pub trait TenantDirectory: Send + Sync + 'static {
    /// The tenant that this request is for; `None` is answered with 421.
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>>;

    /// The tenant with this id.
    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>>;

    /// All tenants, each once.
    fn tenants(&self) -> Vec<Arc<TenantConfig>>;
}

/// The parts of a request by which a directory finds the tenant.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TenantRequest<'a> {
    /// The host that the client used, with an optional port; if the site trusts proxies, the forwarded one.
    pub host: Option<&'a Host>,
    /// The path, not decoded.
    pub path: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
}

impl<'a> TenantRequest<'a> {
    pub(crate) fn new(host: Option<&'a Host>, path: &'a str, headers: &'a HeaderMap) -> Self {
        Self { host, path, headers }
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
}
