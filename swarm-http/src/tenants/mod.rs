//! Who is served: tenants, how a request finds its own, and who may operate one.

mod config;
mod host;
mod host_table;
mod open_tenants;
mod operators;
mod origin;

use std::sync::Arc;

use http::HeaderMap;
use swarm_core::TenantId;

pub use config::{Services, TenantConfig};
pub use host::Host;
pub(crate) use host_table::EveryHost;
pub use host_table::{DuplicateTenant, HostTable};
pub(crate) use open_tenants::OpenTenants;
pub use open_tenants::ServedTenant;
pub(crate) use operators::only;
pub use operators::{AdminTokens, DuplicateOperator, Operators};
pub use origin::PublicOrigin;

/// Which tenants there are, and which of them a request is for.
///
/// It is asked at each request and by the work in the background, so it answers from memory. What it
/// answers may change at any time: a tenant that is new is served from the next request on, and one
/// that is gone no longer. A tenant whose settings change comes as another [`Arc`]; the same `Arc`
/// again costs a request nothing.
///
/// [`HostTable`] is the plain implementation.
pub trait TenantDirectory: Send + Sync + 'static {
    /// The tenant that this request is for; none is a 421.
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>>;

    /// The tenant of this id.
    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>>;

    /// Each tenant, once.
    fn tenants(&self) -> Vec<Arc<TenantConfig>>;
}

/// What of a request may say which tenant it is for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TenantRequest<'a> {
    /// The host that the client named, perhaps with a port; as a proxy forwards it, where the site
    /// trusts proxies.
    pub host: Option<&'a Host>,
    /// The path as it was sent.
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
