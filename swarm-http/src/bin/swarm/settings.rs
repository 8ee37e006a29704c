//! From what is written to what is meant.

use std::collections::{HashMap, HashSet};

use swarm_core::domain::committee::KeyPrefix;
use swarm_core::domain::{Invalid, SecretHash, TimeOfDay};
use swarm_core::proof::hex;
use swarm_core::{
    CommitteeSettings, CommitteeTenants, Committees, Entropy, Swarm, SystemEntropy, TenantId,
    Tenants,
};
use swarm_http::{Services, Site, TenantConfig};
use swarm_store_memory::MemoryStore;
use swarm_store_redis::RedisStore;

use crate::Failure;
use crate::config::{CommitteeTable, Config, MEMORY, TenantTable};
use crate::export::Export;

/// The site that a configuration describes. `admin_token` is that of a single tenant.
pub(crate) async fn site(config: &Config, admin_token: Option<String>) -> Result<Site, Failure> {
    let services = open(&config.store).await?;
    let site = if config.tenants.is_empty() {
        Site::single(services, default_tenant(admin_token)?)
    } else {
        if admin_token.is_some() {
            tracing::warn!("SWARM_ADMIN_TOKEN is not used: each tenant has its own");
        }
        Site::by_host(services, tenants(&config.tenants)?)?
    };
    Ok(site.trust_forwarded(config.trust_forwarded))
}

/// Both interfaces, on one store in memory.
pub(crate) fn in_memory() -> Services {
    on(MemoryStore::new())
}

fn on(store: impl Tenants + CommitteeTenants + Clone + 'static) -> Services {
    let committees = Committees::new(store.clone(), SystemEntropy);
    (Swarm::new(store, SystemEntropy), committees).into()
}

async fn open(store: &str) -> Result<Services, Failure> {
    if store == MEMORY {
        return Ok(in_memory());
    }
    if !REDIS.iter().any(|scheme| store.starts_with(scheme)) {
        return Err(UNKNOWN.into());
    }
    RedisStore::connect(store).await.map(on).map_err(|error| told("store", &error).into())
}

/// What failed, with all that lies behind it. The address of a store, which may hold a password, is
/// repeated nowhere.
pub(crate) fn told(what: &str, error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |cause| cause.source());
    causes.map(ToString::to_string).fold(what.to_owned(), |text, cause| {
        // Some say what their own cause says.
        if text.ends_with(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// What the addresses of Redis begin with.
const REDIS: [&str; 6] = [
    "redis://",
    "rediss://",
    "redis-cluster://",
    "rediss-cluster://",
    "redis-sentinel://",
    "rediss-sentinel://",
];

const UNKNOWN: &str =
    "store: must be memory, redis://…, rediss://…, redis-cluster://… or redis-sentinel://…";

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
        committee: CommitteeSettings::default(),
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

/// The folders that briefs are exported to, one for each tenant that has one.
pub(crate) fn exports(config: &Config) -> Result<HashMap<TenantId, Export>, Failure> {
    let (mut exports, mut folders) = (HashMap::new(), HashSet::new());
    for table in &config.tenants {
        let Some(folder) = table.committee.export_to.clone() else { continue };
        let bad = |fault| format!("tenants: {:?}: committee.export_to {fault}", table.id);
        let origin = table.public_origin.clone().ok_or_else(|| bad("needs public_origin"))?;
        let whole = std::path::absolute(&folder).map_err(|_| bad("is no folder"))?;
        if !folders.insert(whole) {
            return Err(bad("is another tenant's").into());
        }
        let id = TenantId::parse(table.id.as_str());
        let id = id.map_err(|invalid| format!("tenants: {:?}: id: {}", table.id, invalid.rule))?;
        exports.insert(id, Export { folder, origin });
    }
    Ok(exports)
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
