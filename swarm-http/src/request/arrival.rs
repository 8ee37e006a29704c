//! A request whose tenant is found: where it was sent to, and its path below the base path of the tenant (API.md, 2.3).

use std::sync::Arc;

use crate::Site;
use crate::tenants::{ServedTenant, TenantRequest};

use super::head::RequestHead;
use super::origin::Origin;
use super::table::{RouteMatch, Table};

/// A request, and the tenant that it is for.
pub(crate) struct Arrival {
    pub(crate) head: RequestHead,
    pub(crate) origin: Origin,
    /// The tenant; `None` for an unknown host.
    pub(crate) served: Option<Arc<ServedTenant>>,
    /// The length of the base path in the path of the request; `None` if the path is not below the base path.
    below: Option<usize>,
}

impl Arrival {
    /// Finds the tenant of a request.
    pub(crate) fn of(site: &Site, head: RequestHead) -> Self {
        let origin = Origin::of(head.host.clone(), &head.headers, site.origins);
        let RequestHead { path, headers, extensions, .. } = &head;
        let served = site.find(&TenantRequest::new(origin.host(), path, headers, extensions));
        let below = match &served {
            Some(served) => {
                let base = served.config().base_path();
                base.rest(path).map(|_| base.as_str().len())
            }
            None => Some(0),
        };
        Self { head, origin, served, below }
    }

    /// The path below the base path of the tenant, which begins with a slash.
    pub(crate) fn path(&self) -> &str {
        match self.head.path.get(self.below.unwrap_or_default()..) {
            None | Some("") => "/",
            Some(path) => path,
        }
    }

    /// Takes the path below the base path, which is not copied at the root of a host.
    pub(crate) fn take_path(&mut self) -> String {
        match self.below {
            None | Some(0) => std::mem::take(&mut self.head.path),
            Some(_) => self.path().to_owned(),
        }
    }

    /// The endpoint of the request. A path that is not below the base path has only what is the same for all tenants, and
    /// the files of a log under the name of the log.
    pub(crate) fn find(&self, table: &Table) -> Option<RouteMatch> {
        let (endpoint, parts) = table.find(self.path())?;
        let is_served =
            self.below.is_some() || !endpoint.needs_tenant() || endpoint.is_of_named_log();
        is_served.then_some((endpoint, parts))
    }

    /// The hint for an unknown path that is not below the base path, or ends with a slash.
    pub(crate) fn fault_of_path(&self) -> Option<String> {
        if self.below.is_none() {
            let base = self.served.as_ref()?.config().base_path();
            // Only the target `*` is not below the root.
            let is_root = base.as_str().is_empty();
            return (!is_root).then(|| format!("path: is not below {base}, where this service is"));
        }
        let fault = "path: ends with a slash, which only the root path may: leave the slash out";
        self.path().ends_with('/').then(|| fault.to_owned())
    }

    /// The address of the tenant, for links in the answer.
    pub(crate) fn address(&self) -> String {
        let mut address = self.origin.url();
        if let Some(served) = &self.served {
            address.push_str(served.config().base_path().as_str());
        }
        address
    }
}
