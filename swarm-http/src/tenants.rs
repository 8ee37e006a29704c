//! Which tenant a request is for: the one that its host names (contract, section 1).

use std::collections::HashMap;
use std::sync::Arc;

use swarm_core::domain::SecretHash;
use swarm_core::{Swarm, Tenant, TenantId};
use warp::http::HeaderMap;
use warp::http::header::HOST;
use warp::http::uri::Authority;

/// A tenant as the front end needs to know it.
#[derive(Clone, Debug)]
pub struct TenantConfig {
    /// Its name.
    pub id: TenantId,
    /// The hosts that stand for it, without ports, in any case.
    pub hosts: Vec<String>,
    /// The hash of the token that its operators send.
    pub admin_token: SecretHash,
}

/// Two tenants name this host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host {0:?} belongs to two tenants")]
pub struct HostTaken(pub String);

/// A tenant, open.
pub(crate) struct Served {
    pub(crate) id: TenantId,
    pub(crate) tenant: Tenant,
    pub(crate) admin_token: SecretHash,
}

pub(crate) struct Hosts {
    directory: Directory,
    pub(crate) trust_forwarded: bool,
}

enum Directory {
    Single(Arc<Served>),
    ByName(HashMap<String, Arc<Served>>),
}

impl Hosts {
    pub(crate) fn single(swarm: &Swarm, tenant: TenantConfig) -> Self {
        Self {
            directory: Directory::Single(open(swarm, tenant.id, tenant.admin_token)),
            trust_forwarded: false,
        }
    }

    pub(crate) fn by_name(
        swarm: &Swarm,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, HostTaken> {
        let mut names = HashMap::new();
        for TenantConfig { id, hosts, admin_token } in tenants {
            let served = open(swarm, id, admin_token);
            for host in hosts {
                let name = host.to_ascii_lowercase();
                if names.insert(name, Arc::clone(&served)).is_some() {
                    return Err(HostTaken(host));
                }
            }
        }
        Ok(Self { directory: Directory::ByName(names), trust_forwarded: false })
    }

    /// Each tenant, once.
    pub(crate) fn tenants(&self) -> Vec<(TenantId, Tenant)> {
        let served: Vec<_> = match &self.directory {
            Directory::Single(served) => vec![served],
            Directory::ByName(names) => names.values().collect(),
        };
        let each: HashMap<_, _> =
            served.iter().map(|served| (served.id.clone(), served.tenant.clone())).collect();
        each.into_iter().collect()
    }

    /// The tenant of a request with these headers.
    pub(crate) fn find(&self, headers: &HeaderMap) -> Option<&Arc<Served>> {
        match &self.directory {
            Directory::Single(served) => Some(served),
            Directory::ByName(names) => names.get(&self.host(headers)?),
        }
    }

    /// The host that the request names, without port, in lower case.
    fn host(&self, headers: &HeaderMap) -> Option<String> {
        let forwarded = headers.get("x-forwarded-host").filter(|_| self.trust_forwarded);
        let named = forwarded.or_else(|| headers.get(HOST))?.to_str().ok()?;
        // Each proxy appends: the first is what the client asked for.
        let first = named.split(',').next().unwrap_or_default().trim();
        let authority: Authority = first.parse().ok()?;
        Some(authority.host().to_ascii_lowercase())
    }
}

fn open(swarm: &Swarm, id: TenantId, admin_token: SecretHash) -> Arc<Served> {
    Arc::new(Served { tenant: swarm.tenant(&id), id, admin_token })
}
