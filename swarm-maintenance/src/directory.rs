//! Which tenants are maintained.

use std::sync::Arc;

use swarm_core::store::ChangeFeed;
use swarm_core::{CommitteeTenant, Tenant, TenantId};

/// The tenants that a server serves.
///
/// It is asked every second, so it answers from memory. A tenant whose settings change comes as another [`Arc`].
pub trait Directory: Send + Sync + 'static {
    /// A tenant with its settings.
    type Tenant: MaintainedTenant;

    /// Each tenant, once.
    fn tenants(&self) -> Vec<Arc<Self::Tenant>>;

    /// The tenant of this id, while it is served.
    fn tenant(&self, id: &TenantId) -> Option<Arc<Self::Tenant>>;

    /// Reports which tenants have changed, where the store can; otherwise each tenant is visited every [`PAUSE`].
    ///
    /// [`PAUSE`]: crate::PAUSE
    fn changes(&self) -> Option<&Arc<dyn ChangeFeed>>;
}

/// A tenant as the jobs see it.
pub trait MaintainedTenant: Send + Sync + 'static {
    /// Its id.
    fn id(&self) -> &TenantId;

    /// Its interface A.
    fn tenant(&self) -> &Tenant;

    /// Its interface B, where it has one.
    fn committee(&self) -> Option<&CommitteeTenant>;
}

/// A directory of one tenant, for a server that has no more.
#[derive(Debug)]
pub struct SingleTenant(Arc<OneTenant>);

/// The tenant of a [`SingleTenant`].
#[derive(Debug)]
pub struct OneTenant {
    id: TenantId,
    tenant: Tenant,
    committee: Option<CommitteeTenant>,
}

impl SingleTenant {
    /// A tenant with interface A alone.
    pub fn new(id: TenantId, tenant: Tenant) -> Self {
        Self(Arc::new(OneTenant { id, tenant, committee: None }))
    }

    /// A tenant with both interfaces.
    pub fn with_committee(id: TenantId, tenant: Tenant, committee: CommitteeTenant) -> Self {
        Self(Arc::new(OneTenant { id, tenant, committee: Some(committee) }))
    }
}

impl Directory for SingleTenant {
    type Tenant = OneTenant;

    fn tenants(&self) -> Vec<Arc<OneTenant>> {
        vec![Arc::clone(&self.0)]
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<OneTenant>> {
        (self.0.id == *id).then(|| Arc::clone(&self.0))
    }

    fn changes(&self) -> Option<&Arc<dyn ChangeFeed>> {
        None
    }
}

impl MaintainedTenant for OneTenant {
    fn id(&self) -> &TenantId {
        &self.id
    }

    fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    fn committee(&self) -> Option<&CommitteeTenant> {
        self.committee.as_ref()
    }
}
