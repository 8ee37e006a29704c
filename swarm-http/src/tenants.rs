//! Which tenant a request is for: the one that its host names (contract, section 1).

use std::collections::HashMap;
use std::sync::Arc;

use swarm_core::domain::AdminTokenHash;
use swarm_core::{CommitteeSettings, CommitteeTenant, Committees, Swarm, Tenant, TenantId};
use warp::http::HeaderMap;
use warp::http::uri::Authority;

/// A tenant as the front end needs to know it.
#[derive(Clone, Debug)]
pub struct TenantConfig {
    /// Its name.
    pub id: TenantId,
    /// The hosts that stand for it, without ports, in any case.
    pub hosts: Vec<String>,
    /// The hash of the token that its operators send.
    pub admin_token: AdminTokenHash,
    /// What is set for its committee, where the site has committees.
    pub committee: CommitteeSettings,
}

/// This host stands twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host {0:?} stands twice")]
pub struct DuplicateHost(pub String);

/// A tenant, open.
pub(crate) struct OpenTenant {
    pub(crate) id: TenantId,
    pub(crate) tenant: Tenant,
    pub(crate) admin_token: AdminTokenHash,
    /// Its committee, where the site has committees.
    pub(crate) committee: Option<Arc<CommitteeTenant>>,
}

/// What a site serves: the session API, and the daily committee where there is one.
#[derive(Clone)]
pub struct Services {
    /// Interface A.
    pub swarm: Swarm,
    /// Interface B.
    pub committees: Option<Committees>,
}

impl From<Swarm> for Services {
    fn from(swarm: Swarm) -> Self {
        Self { swarm, committees: None }
    }
}

impl From<(Swarm, Committees)> for Services {
    fn from((swarm, committees): (Swarm, Committees)) -> Self {
        Self { swarm, committees: Some(committees) }
    }
}

pub(crate) struct Hosts {
    directory: Directory,
    pub(crate) trust_forwarded: bool,
}

enum Directory {
    Single(Arc<OpenTenant>),
    ByName(HashMap<String, Arc<OpenTenant>>),
}

impl Hosts {
    pub(crate) fn single(services: &Services, tenant: TenantConfig) -> Self {
        Self { directory: Directory::Single(open(services, tenant)), trust_forwarded: false }
    }

    pub(crate) fn by_name(
        services: &Services,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, DuplicateHost> {
        let mut names = HashMap::new();
        for mut tenant in tenants {
            let hosts = std::mem::take(&mut tenant.hosts);
            let served = open(services, tenant);
            for host in hosts {
                let name = host.to_ascii_lowercase();
                if names.insert(name, Arc::clone(&served)).is_some() {
                    return Err(DuplicateHost(host));
                }
            }
        }
        Ok(Self { directory: Directory::ByName(names), trust_forwarded: false })
    }

    /// Each tenant, once.
    pub(crate) fn served(&self) -> Vec<Arc<OpenTenant>> {
        let served: Vec<_> = match &self.directory {
            Directory::Single(served) => vec![served],
            Directory::ByName(names) => names.values().collect(),
        };
        let each: HashMap<_, _> =
            served.into_iter().map(|served| (&served.id, Arc::clone(served))).collect();
        each.into_values().collect()
    }

    /// The tenant that a request for this host is for.
    pub(crate) fn find(
        &self,
        host: Option<&Authority>,
        headers: &HeaderMap,
    ) -> Option<&Arc<OpenTenant>> {
        match &self.directory {
            Directory::Single(served) => Some(served),
            Directory::ByName(names) => {
                names.get(&self.named(host, headers)?.host().to_ascii_lowercase())
            }
        }
    }

    /// The origin that a request was sent to, for links in the answer: `https://acme.example`.
    pub(crate) fn origin(&self, host: Option<&Authority>, headers: &HeaderMap) -> String {
        let secure = self.forwarded(headers, "x-forwarded-proto") == Some("https");
        let scheme = if secure { "https" } else { "http" };
        let host = self.named(host, headers);
        format!("{scheme}://{}", host.as_ref().map_or("localhost", Authority::as_str))
    }

    /// The host that the client named.
    fn named(&self, host: Option<&Authority>, headers: &HeaderMap) -> Option<Authority> {
        match self.forwarded(headers, "x-forwarded-host") {
            Some(forwarded) => forwarded.parse().ok(),
            None => host.cloned(),
        }
    }

    /// What a proxy that is trusted says in this header. Each proxy appends: the first value is
    /// what the client asked for.
    fn forwarded<'a>(&self, headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
        let value = headers.get(name).filter(|_| self.trust_forwarded)?.to_str().ok()?;
        value.split(',').next().map(str::trim)
    }
}

fn open(services: &Services, tenant: TenantConfig) -> Arc<OpenTenant> {
    let TenantConfig { id, hosts: _, admin_token, committee } = tenant;
    let committees = services.committees.as_ref();
    Arc::new(OpenTenant {
        tenant: services.swarm.tenant(&id),
        committee: committees.map(|committees| Arc::new(committees.tenant(&id, committee))),
        id,
        admin_token,
    })
}
