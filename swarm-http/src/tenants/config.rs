//! A tenant as the front end needs to know it.

use std::fmt;
use std::sync::Arc;

use swarm_core::domain::Quotas;
use swarm_core::store::ChangeFeed;
use swarm_core::{CommitteeSettings, Committees, Swarm, TenantId};

use super::{Operators, PublicOrigin};

/// A tenant: its name, its hosts, who may operate it, and its settings (API.md, 13.2).
#[derive(Clone)]
#[non_exhaustive]
pub struct TenantConfig {
    /// What the store knows it by.
    pub id: TenantId,
    /// What people call it; the id unless given.
    pub name: String,
    /// A paragraph about it, in plain text; may be empty.
    pub about: String,
    /// The hosts that it is served on, without ports, in any case. A custom directory may find
    /// tenants by something else.
    pub hosts: Vec<String>,
    /// The origin for links in mail and in files; without it, the one that a request was sent to.
    pub public_origin: Option<PublicOrigin>,
    /// The sender of its mail, such as `Acme <desk@acme.example>`; without it, the server's.
    pub mail_from: Option<String>,
    /// Who may operate it.
    pub operators: Arc<dyn Operators>,
    /// How much it takes in.
    pub quotas: Quotas,
    /// What is set for its committee, where the site has committees.
    pub committee: CommitteeSettings,
}

impl TenantConfig {
    /// The tenant of this id, called by it, with these operators. It has no hosts yet, and whatever
    /// else can be set has its default (API.md, 13.2).
    pub fn new(id: TenantId, operators: impl Operators) -> Self {
        Self {
            name: id.as_str().to_owned(),
            id,
            about: String::new(),
            hosts: Vec::new(),
            public_origin: None,
            mail_from: None,
            operators: Arc::new(operators),
            quotas: Quotas::default(),
            committee: CommitteeSettings::default(),
        }
    }

    /// With these hosts.
    #[must_use]
    pub fn on_hosts(self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hosts: hosts.into_iter().map(Into::into).collect(), ..self }
    }
}

impl std::fmt::Debug for TenantConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, hosts, .. } = self;
        f.debug_struct("TenantConfig").field("id", id).field("hosts", hosts).finish_non_exhaustive()
    }
}

/// What a site serves: the session API, and the daily committee where there is one.
#[derive(Clone)]
pub struct Services {
    /// Interface A.
    pub swarm: Swarm,
    /// Interface B.
    pub committees: Option<Committees>,
    /// What tells which tenants have changed, where the store does. Without it, the work in the
    /// background asks for each tenant all the time.
    pub changes: Option<Arc<dyn ChangeFeed>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { swarm, committees, changes } = self;
        let mut services = f.debug_struct("Services");
        services.field("swarm", swarm).field("committees", committees);
        services.field("changes", &changes.is_some()).finish()
    }
}

impl From<Swarm> for Services {
    fn from(swarm: Swarm) -> Self {
        Self { swarm, committees: None, changes: None }
    }
}

impl From<(Swarm, Committees)> for Services {
    fn from((swarm, committees): (Swarm, Committees)) -> Self {
        Self { swarm, committees: Some(committees), changes: None }
    }
}
