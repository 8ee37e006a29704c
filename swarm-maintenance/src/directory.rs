//! The tenants that maintenance works for.

use std::sync::Arc;

use swarm_core::domain::Schedule;
use swarm_core::service::signed_log::SignedLog;
use swarm_core::store::ChangeFeed;
use swarm_core::{CommitteeTenant, Tenant, TenantId};

/// The tenants that a server serves.
///
/// It is called every second, so it must answer from memory. A tenant whose settings change must come in a new [`Arc`].
pub trait Directory: Send + Sync + 'static {
    /// A tenant with its settings.
    type Tenant: MaintainedTenant;

    /// All tenants, each once.
    fn tenants(&self) -> Vec<Arc<Self::Tenant>>;

    /// The tenant with this id, if it is served.
    fn tenant(&self, id: &TenantId) -> Option<Arc<Self::Tenant>>;

    /// The feed of changed tenants, if the store has one; otherwise each tenant is visited every [`PAUSE`].
    ///
    /// [`PAUSE`]: crate::PAUSE
    fn changes(&self) -> Option<&Arc<dyn ChangeFeed>>;
}

/// A tenant with what the jobs need of it.
pub trait MaintainedTenant: Send + Sync + 'static {
    /// The tenant's id.
    fn id(&self) -> &TenantId;

    /// The tenant's handle on interface A.
    fn tenant(&self) -> &Tenant;

    /// The tenant's handle on interface B, if it has one.
    fn committee(&self) -> Option<&CommitteeTenant>;

    /// The tenant's log, if it is signed.
    fn signed_log(&self) -> Option<&SignedLog> {
        None
    }

    /// The sessions that convene by themselves.
    fn schedule(&self) -> &Schedule;
}

/// A directory of one tenant.
#[derive(Debug)]
pub struct SingleTenant(Arc<OneTenant>);

/// The tenant of a [`SingleTenant`].
#[derive(Debug)]
pub struct OneTenant {
    id: TenantId,
    tenant: Tenant,
    committee: Option<CommitteeTenant>,
    schedule: Schedule,
}

impl SingleTenant {
    /// A tenant with interface A only, whose sessions operators convene.
    pub fn new(id: TenantId, tenant: Tenant) -> Self {
        Self::scheduled(id, tenant, Schedule::default())
    }

    /// A tenant with interface A only, and a schedule.
    pub fn scheduled(id: TenantId, tenant: Tenant, schedule: Schedule) -> Self {
        Self(Arc::new(OneTenant { id, tenant, committee: None, schedule }))
    }

    /// A tenant with both interfaces.
    pub fn with_committee(id: TenantId, tenant: Tenant, committee: CommitteeTenant) -> Self {
        let schedule = Schedule::default();
        Self(Arc::new(OneTenant { id, tenant, committee: Some(committee), schedule }))
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

    fn schedule(&self) -> &Schedule {
        &self.schedule
    }
}
