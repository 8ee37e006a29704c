//! Which tenants are served: those of the file, or the one of a server without them.

use std::collections::HashSet;

use swarm_core::domain::committee::KeyPrefix;
use swarm_core::domain::{AdminTokenHash, Invalid, TimeOfDay};
use swarm_core::{CommitteeSettings, TenantId};
use swarm_http::TenantConfig;

use crate::Failure;
use crate::config::{CommitteeTable, TenantTable};
use crate::secrets::mint_token;

/// The one tenant of a server without a list of them, on every host.
pub(crate) fn default_tenant(admin_token: Option<String>) -> Result<TenantConfig, Failure> {
    let token = match admin_token {
        Some(token) if token.is_empty() => return Err("SWARM_ADMIN_TOKEN is empty".into()),
        Some(token) if token.trim() != token => {
            return Err("SWARM_ADMIN_TOKEN begins or ends with white space".into());
        }
        Some(token) => token,
        None => {
            let token = mint_token()?;
            eprintln!("admin token: {token}");
            token
        }
    };
    Ok(TenantConfig {
        id: TenantId::parse("default")?,
        hosts: Vec::new(),
        admin_token: AdminTokenHash::of(token.as_bytes()),
        committee: CommitteeSettings::default(),
    })
}

/// The tenants of the file.
pub(crate) fn configured(tables: &[TenantTable]) -> Result<Vec<TenantConfig>, Failure> {
    let mut ids = HashSet::new();
    let configs: Vec<_> = tables.iter().map(tenant).collect::<Result<_, Failure>>()?;
    match configs.iter().find(|config| !ids.insert(&config.id)) {
        Some(twice) => Err(format!("tenants: id {:?} stands twice", twice.id.as_str()).into()),
        None => Ok(configs),
    }
}

fn tenant(table: &TenantTable) -> Result<TenantConfig, Failure> {
    let named = |key: &str, fault: &str| format!("tenants: {:?}: {key}: {fault}", table.id);
    let id = TenantId::parse(table.id.as_str()).map_err(|invalid| named("id", &invalid.rule))?;
    if table.hosts.is_empty() {
        return Err(named("hosts", "must name at least one").into());
    }
    if let Some(host) = table.hosts.iter().find(|host| !is_host(host)) {
        return Err(named("hosts", &format!("{host:?} is no host name without a port")).into());
    }
    let admin_token = AdminTokenHash::parse(&table.admin_token_hash)
        .ok_or_else(|| named("admin_token_hash", "must be sha256: and 64 hexadecimal digits"))?;
    check_origin(table).map_err(|fault| named("public_origin", fault))?;
    let committee = committee(&table.committee)
        .map_err(|invalid| named(&format!("committee.{}", invalid.field), &invalid.rule))?;
    Ok(TenantConfig { id, hosts: table.hosts.clone(), admin_token, committee })
}

/// Whether a request could name it: an authority without user and port.
fn is_host(host: &str) -> bool {
    host.parse().is_ok_and(|authority: warp::http::uri::Authority| authority.host() == host)
}

/// The public origin is what exported files link to.
fn check_origin(table: &TenantTable) -> Result<(), &'static str> {
    let Some(origin) = &table.public_origin else { return Ok(()) };
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let authority = host.and_then(|host| host.parse::<warp::http::uri::Authority>().ok());
    let valid = authority.is_some_and(|authority| !authority.as_str().contains('@'));
    if valid { Ok(()) } else { Err("must be http:// or https:// and a host, nothing more") }
}

/// What is not set is as the specification has it (section 8B).
fn committee(table: &CommitteeTable) -> Result<CommitteeSettings, Invalid> {
    let default = CommitteeSettings::default();
    let time = |field, text: &Option<String>, default| match text {
        Some(text) => TimeOfDay::parse(field, text),
        None => Ok(default),
    };
    let prefix = match &table.key_prefix {
        Some(prefix) => KeyPrefix::parse(prefix.as_str())?,
        None => default.key_prefix().clone(),
    };
    let brief_at = time("brief_at", &table.brief_at, default.brief_at())?;
    CommitteeSettings::new(prefix, brief_at, time("deadline", &table.deadline, default.deadline())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_no_port() {
        assert!(is_host("acme.example") && is_host("127.0.0.1") && is_host("[::1]"));
        for bad in ["", "acme.example:80", "a@b", "a b", "http://acme.example"] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}
