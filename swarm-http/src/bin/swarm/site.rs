//! The site that a configuration describes.

use swarm_http::Site;

use crate::config::Config;
use crate::{Failure, store, tenants};

/// The site that a configuration describes. `admin_token` is that of a single tenant.
pub(crate) async fn configured(
    config: &Config,
    admin_token: Option<String>,
) -> Result<Site, Failure> {
    let services = store::open(&config.store).await?;
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
