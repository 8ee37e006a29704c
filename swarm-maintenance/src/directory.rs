//! The tenants that maintenance works for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use swarm_core::domain::Schedule;
use swarm_core::service::signed_log::SignedLog;
use swarm_core::store::Store;
use swarm_core::{Tenant, TenantId};

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
    fn changes(&self) -> Option<&Store>;
}

/// A tenant with what the jobs need of it.
pub trait MaintainedTenant: Send + Sync + 'static {
    /// The tenant's id.
    fn id(&self) -> &TenantId;

    /// The tenant's handle on interface A.
    fn tenant(&self) -> &Tenant;

    /// The tenant's handle on interface B, if it has one.
    #[cfg(feature = "committee")]
    fn committee(&self) -> Option<&swarm_core::CommitteeTenant> {
        None
    }

    /// The tenant's log, if it is signed.
    fn signed_log(&self) -> Option<&SignedLog> {
        None
    }

    /// The sessions that convene by themselves.
    fn schedule(&self) -> &Schedule;
}

/// A list of tenants, which may change at any time: a [`Directory`] for hosts that have none.
#[derive(Clone, Default)]
pub struct TenantList {
    tenants: Arc<RwLock<BTreeMap<TenantId, Arc<ListedTenant>>>>,
    changes: Option<Store>,
}

impl TenantList {
    /// A list without tenants.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the feed of changed tenants of the store.
    #[must_use]
    pub fn with_changes(self, changes: Store) -> Self {
        Self { changes: Some(changes), ..self }
    }

    /// Adds a tenant, in place of the one with its id.
    pub fn insert(&self, tenant: ListedTenant) {
        let id = tenant.tenant.id().clone();
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        tenants.insert(id, Arc::new(tenant));
    }

    /// Removes a tenant, and returns whether it was listed. Its jobs end with their current round.
    pub fn remove(&self, id: &TenantId) -> bool {
        self.tenants.write().unwrap_or_else(PoisonError::into_inner).remove(id).is_some()
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<TenantId, Arc<ListedTenant>>> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<ListedTenant> for TenantList {
    fn from_iter<I: IntoIterator<Item = ListedTenant>>(tenants: I) -> Self {
        let list = Self::new();
        tenants.into_iter().for_each(|tenant| list.insert(tenant));
        list
    }
}

impl fmt::Debug for TenantList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.read().keys()).finish()
    }
}

impl Directory for TenantList {
    type Tenant = ListedTenant;

    fn tenants(&self) -> Vec<Arc<ListedTenant>> {
        self.read().values().cloned().collect()
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<ListedTenant>> {
        self.read().get(id).cloned()
    }

    fn changes(&self) -> Option<&Store> {
        self.changes.as_ref()
    }
}

/// A tenant of a [`TenantList`].
#[derive(Debug)]
pub struct ListedTenant {
    tenant: Tenant,
    #[cfg(feature = "committee")]
    committee: Option<swarm_core::CommitteeTenant>,
    signed_log: Option<SignedLog>,
    schedule: Schedule,
}

impl ListedTenant {
    /// A tenant with interface A only, whose sessions operators convene, and whose log is not signed.
    pub fn new(tenant: Tenant) -> Self {
        Self {
            tenant,
            #[cfg(feature = "committee")]
            committee: None,
            signed_log: None,
            schedule: Schedule::default(),
        }
    }

    /// Adds interface B.
    #[cfg(feature = "committee")]
    #[must_use]
    pub fn with_committee(self, committee: swarm_core::CommitteeTenant) -> Self {
        Self { committee: Some(committee), ..self }
    }

    /// Has the log signed.
    #[must_use]
    pub fn with_signed_log(self, signed_log: SignedLog) -> Self {
        Self { signed_log: Some(signed_log), ..self }
    }

    /// Sets the sessions that convene by themselves.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }
}

impl MaintainedTenant for ListedTenant {
    fn id(&self) -> &TenantId {
        self.tenant.id()
    }

    fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    #[cfg(feature = "committee")]
    fn committee(&self) -> Option<&swarm_core::CommitteeTenant> {
        self.committee.as_ref()
    }

    fn signed_log(&self) -> Option<&SignedLog> {
        self.signed_log.as_ref()
    }

    fn schedule(&self) -> &Schedule {
        &self.schedule
    }
}
