//! `swarm check`: checks a configuration like `serve`, and prints what it puts in force. It connects to the
//! store only with `--connect`.

use swarm_core::CommitteeSettings;
use swarm_http::{Site, TenantConfig, expiry_warning};

use crate::arguments::CheckOptions;
use crate::command::now;
use crate::config::{Config, MailConfig};
use crate::open_site::{CheckedTenants, IGNORED_TOKEN, OTHER_PREFIXES};
use crate::secrets::{self, check_token};
use crate::store::Opened;
use crate::tenants::{ServedIds, admin_tokens, default_tenant, warnings};
use crate::tls_files::TlsFiles;
use crate::{Failure, console, effective_settings, failure, signing_key, store};

pub(crate) async fn run(options: CheckOptions) -> Result<(), Failure> {
    let config = options.options.resolve()?;
    let checked = CheckedTenants::of(&config.tenants, config.mail.as_ref())?;
    config.mail.as_ref().map(MailConfig::smtp).transpose()?;
    let tls = config.tls.clone().map(TlsFiles::read).transpose()?;
    if !config.read_only && (config.signing_key.is_some() || !store::is_memory(&config.store)) {
        signing_key::check(config.signing_key.as_deref())?;
    }
    store::check(&config.store)?;
    let is_single = checked.tenants.is_empty();
    let is_ignored = match secrets::admin_token()? {
        Some(given) if is_single => check_token(&given.source, &given.token).map(|()| false)?,
        given => given.is_some(),
    };
    for line in effective_settings::server_lines(&config) {
        console::print(&line)?;
    }
    if let Some(not_after) = tls.and_then(|tls| tls.expiry()()) {
        console::print(&format!("certificate: until {not_after}"))?;
        if let Some(warning) = expiry_warning(not_after, now()) {
            console::print(&format!("certificate: warning: {warning}"))?;
        }
    }
    if is_ignored {
        console::print(&format!("warning: {IGNORED_TOKEN}"))?;
    }
    if is_single {
        console::print("default: one tenant, on every host")?;
    }
    let default = default_tenant("", &"-".repeat(16))?;
    let served = if is_single { std::slice::from_ref(&default) } else { &*checked.tenants };
    for (tenant, table) in checked.tenants.iter().zip(&config.tenants) {
        let tokens = admin_tokens(table)?;
        let operators =
            tokens.operators().map(|it| format!("{} ({})", it.name.as_str(), it.role.as_str()));
        console::print(&described(tenant, &operators.collect::<Vec<_>>()))?;
        for line in effective_settings::tenant_lines(tenant, table, now()) {
            console::print(&line)?;
        }
        if tenant.committee.key_prefix() != CommitteeSettings::default().key_prefix() {
            let (id, prefix) = (&tenant.id, tenant.committee.key_prefix().as_str());
            console::print(&format!("{id}: warning: key_prefix is {prefix:?}: {OTHER_PREFIXES}"))?;
        }
    }
    for (id, warning) in warnings(served).into_iter().filter(|_| !config.read_only) {
        console::print(&format!("{id}: warning: {warning}"))?;
    }
    match options.connect {
        true => connect(&config, default).await,
        false => Ok(()),
    }
}

/// Prints whether the store answers, and what it warns of.
async fn connect(config: &Config, any: TenantConfig) -> Result<(), Failure> {
    let store = config.store.as_str();
    // A server that only reads makes none.
    if let Some(path) = store::new_file(store).filter(|_| !config.read_only) {
        store::may_be_made(&path)?;
        return Ok(console::print(&format!(
            "store: there is no file {path:?} yet: serve makes it"
        ))?);
    }
    if store == "memory" {
        return Ok(console::print("store: memory is empty at each start")?);
    }
    if !config.read_only && !store::is_created(store).await? {
        return Ok(console::print("store: answers; it has no tables yet: serve makes them")?);
    }
    let Opened { services, store } = match config.read_only {
        true => store::open_read_only(store).await?,
        false => store::open_to_check(store).await?,
    };
    let site = Site::single(services, any);
    let ready = site.ready().await.map_err(|error| failure::with_causes("store", &error))?;
    console::print("store: answers")?;
    for warning in ready.warnings.into_iter().chain(ServedIds::of(config).warning(&store).await) {
        console::print(&format!("store: warning: {warning}"))?;
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
