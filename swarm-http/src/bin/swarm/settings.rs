//! From what is written to what is meant.

use std::collections::HashSet;

use swarm_core::domain::SecretHash;
use swarm_core::{Entropy, Swarm, SystemEntropy, TenantId};
use swarm_http::{Site, TenantConfig};
use swarm_store_memory::MemoryStore;

use crate::Failure;
use crate::config::{CommitteeTable, Config, TenantTable};

/// The site that a configuration describes. `admin_token` is that of a single tenant.
pub(crate) fn site(config: &Config, admin_token: Option<String>) -> Result<Site, Failure> {
    let swarm = open(&config.store)?;
    let site = if config.tenants.is_empty() {
        Site::single(swarm, default_tenant(admin_token)?)
    } else {
        if admin_token.is_some() {
            tracing::warn!("SWARM_ADMIN_TOKEN is not used: each tenant has its own");
        }
        Site::by_host(swarm, tenants(&config.tenants)?)?
    };
    Ok(site.trust_forwarded(config.trust_forwarded))
}

fn open(store: &str) -> Result<Swarm, Failure> {
    match store {
        "memory" => Ok(Swarm::new(MemoryStore::new(), SystemEntropy)),
        // The address may hold a password: it is not repeated.
        _ if store.starts_with("redis") => Err("store: this build has no Redis store".into()),
        _ => Err("store: must be memory".into()),
    }
}

/// The one tenant of a server without a list of them, on every host.
pub(crate) fn default_tenant(admin_token: Option<String>) -> Result<TenantConfig, Failure> {
    let token = match admin_token {
        Some(token) if token.is_empty() => return Err("SWARM_ADMIN_TOKEN is empty".into()),
        Some(token) if token.trim() != token => {
            return Err("SWARM_ADMIN_TOKEN begins or ends with white space".into());
        }
        Some(token) => token,
        None => {
            let token = mint()?;
            eprintln!("admin token: {token}");
            token
        }
    };
    Ok(TenantConfig {
        id: TenantId::parse("default")?,
        hosts: Vec::new(),
        admin_token: SecretHash::of(token.as_bytes()),
    })
}

/// A token that nobody can guess: `adm_` and 256 random bits in hexadecimal digits.
pub(crate) fn mint() -> Result<String, Failure> {
    Ok(format!("adm_{}", hex(&random()?)))
}

pub(crate) fn random() -> Result<[u8; 32], Failure> {
    let mut random = [0; 32];
    SystemEntropy.fill(&mut random)?;
    Ok(random)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tenants(tables: &[TenantTable]) -> Result<Vec<TenantConfig>, Failure> {
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
    let admin_token = SecretHash::parse(&table.admin_token_hash)
        .ok_or_else(|| named("admin_token_hash", "must be sha256: and 64 hexadecimal digits"))?;
    check_origin(table).map_err(|fault| named("public_origin", fault))?;
    check_committee(&table.committee).map_err(|(key, fault)| named(key, fault))?;
    Ok(TenantConfig { id, hosts: table.hosts.clone(), admin_token })
}

/// Whether a request could name it: an authority without user and port.
fn is_host(host: &str) -> bool {
    host.parse().is_ok_and(|authority: warp::http::uri::Authority| authority.host() == host)
}

/// The public origin is for files that are exported; what is exported comes with interface B.
fn check_origin(table: &TenantTable) -> Result<(), &'static str> {
    let Some(origin) = &table.public_origin else { return Ok(()) };
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let authority = host.and_then(|host| host.parse::<warp::http::uri::Authority>().ok());
    let valid = authority.is_some_and(|authority| !authority.as_str().contains('@'));
    if valid { Ok(()) } else { Err("must be http:// or https:// and a host, nothing more") }
}

/// The committee's settings are checked here and used by interface B.
fn check_committee(table: &CommitteeTable) -> Result<(), (&'static str, &'static str)> {
    let is_prefix = |prefix: &String| {
        (1..=16).contains(&prefix.len()) && prefix.bytes().all(|b| b.is_ascii_lowercase())
    };
    if !table.key_prefix.as_ref().is_none_or(is_prefix) {
        return Err(("committee.key_prefix", "must match [a-z]{1,16}"));
    }
    for (key, time) in
        [("committee.brief_at", &table.brief_at), ("committee.deadline", &table.deadline)]
    {
        if !time.as_ref().is_none_or(|time| is_time_of_day(time)) {
            return Err((key, "must be a time of day, HH:MM"));
        }
    }
    Ok(())
}

fn is_time_of_day(text: &str) -> bool {
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    text.split_once(':').is_some_and(|(hour, minute)| {
        two_digits(hour) && two_digits(minute) && hour < "24" && minute < "60"
    })
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

    #[test]
    fn times_of_day_are_written_in_full() {
        assert!(is_time_of_day("00:00") && is_time_of_day("23:59"));
        for bad in ["24:00", "12:60", "1:00", "12:0", "12-00", "ab:cd", ""] {
            assert!(!is_time_of_day(bad), "{bad}");
        }
    }
}
