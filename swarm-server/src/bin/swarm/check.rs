//! `swarm check`: checks a configuration like `serve`, without connecting to the store.

use swarm_core::CommitteeSettings;
use swarm_http::TenantConfig;

use crate::arguments::Options;
use crate::mail::Smtp;
use crate::open_site::{CheckedTenants, OTHER_PREFIXES};
use crate::secrets::check_token;
use crate::tenants::admin_tokens;
use crate::{Failure, console, serve, store};

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let config = options.resolve()?;
    let checked = CheckedTenants::of(&config.tenants, config.mail.as_ref())?;
    config.mail.as_ref().map(Smtp::new).transpose()?;
    store::check(&config.store)?;
    let is_single = checked.tenants.is_empty();
    if let Some(token) = serve::admin_token()?.filter(|_| is_single) {
        check_token("SWARM_ADMIN_TOKEN", &token)?;
    }
    console::print(&format!("listen: {}", config.listen))?;
    let (shown, settings) = (store::shown(&config.store), store::settings(&config.store));
    console::print(&format!("store: {shown}{settings}"))?;
    if is_single {
        console::print("default: one tenant, on every host")?;
    }
    for (tenant, table) in checked.tenants.iter().zip(&config.tenants) {
        let tokens = admin_tokens(table)?;
        let operators =
            tokens.operators().map(|it| format!("{} ({})", it.name.as_str(), it.role.as_str()));
        console::print(&described(tenant, &operators.collect::<Vec<_>>()))?;
        if tenant.committee.key_prefix() != CommitteeSettings::default().key_prefix() {
            let (id, prefix) = (&tenant.id, tenant.committee.key_prefix().as_str());
            console::print(&format!("{id}: warning: key_prefix is {prefix:?}: {OTHER_PREFIXES}"))?;
        }
    }
    Ok(())
}

/// One line about a tenant. Names are quoted, because they are arbitrary text.
fn described(tenant: &TenantConfig, operators: &[String]) -> String {
    let TenantConfig { id, name, hosts, committee, .. } = tenant;
    format!(
        "{id}: {name:?} on {}; operated by {}; briefs at {}, deadline {}",
        hosts.join(", "),
        operators.join(", "),
        committee.brief_at(),
        committee.deadline(),
    )
}
