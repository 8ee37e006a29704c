//! The site that a configuration describes.

use swarm_http::{Services, Site};

use crate::config::Config;
use crate::{Failure, tenants};

/// The site that a configuration describes, on these services. `admin_token` is that of a single
/// tenant.
pub(crate) fn configured(
    config: &Config,
    services: Services,
    admin_token: Option<String>,
) -> Result<Site, Failure> {
    let site = if config.tenants.is_empty() {
        Site::single(services, tenants::default_tenant(admin_token)?)
    } else {
        if admin_token.is_some() {
            tracing::warn!("SWARM_ADMIN_TOKEN is not used: each tenant has its own");
        }
        Site::by_host(services, tenants::configured(&config.tenants)?)?
    };
    Ok(site.trust_forwarded(config.trust_forwarded))
}
