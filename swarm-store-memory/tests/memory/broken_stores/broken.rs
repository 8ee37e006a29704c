//! A correct store, or committee, with a fault in front of it.

use std::sync::{Arc, Mutex};

use swarm_core::domain::{TenantId, Timestamp};
use swarm_core::store::{
    Clock, CommitteeStore, CommitteeTenants, Counts, Documents, Log, Members, Outbox, Readiness,
    Result, Sessions, Store, Takes, Tenants, Webhooks, async_trait,
};
use swarm_store_memory::MemoryStore;

use crate::broken_stores::{committee, simulation::Chaos};

/// A store whose calls go through a fault: a [`Fault`] for a `dyn Store`, a [`committee::Fault`] for a
/// `dyn CommitteeStore`.
pub(crate) struct Broken<S: ?Sized, F: ?Sized> {
    memory: MemoryStore,
    fault: Arc<F>,
    chaos: Arc<Chaos>,
    opened: Arc<OpenTenants<S>>,
}

impl Broken<dyn Store, dyn Fault> {
    pub(crate) fn store(fault: impl Fault) -> Arc<dyn Tenants> {
        Self::over(MemoryStore::with_clock(time), fault)
    }

    /// Puts the fault in front of a store with records.
    pub(crate) fn over(memory: MemoryStore, fault: impl Fault) -> Arc<dyn Tenants> {
        Self::with_chaos(memory, fault, Arc::new(Chaos::of(0)))
    }

    /// Puts the fault in front, and chaos on the way to it.
    pub(crate) fn with_chaos(
        memory: MemoryStore,
        fault: impl Fault,
        chaos: Arc<Chaos>,
    ) -> Arc<dyn Tenants> {
        Arc::new(Self { memory, fault: Arc::new(fault), chaos, opened: Arc::default() })
    }
}

impl Broken<dyn CommitteeStore, dyn committee::Fault> {
    pub(crate) fn committee(fault: impl committee::Fault) -> Arc<dyn CommitteeTenants> {
        Self::committee_over(MemoryStore::with_clock(time), fault)
    }

    /// Puts the fault in front of a store with records.
    pub(crate) fn committee_over(
        memory: MemoryStore,
        fault: impl committee::Fault,
    ) -> Arc<dyn CommitteeTenants> {
        let (fault, chaos) = (Arc::new(fault), Arc::new(Chaos::of(0)));
        Arc::new(Self { memory, fault, chaos, opened: Arc::default() })
    }
}

#[async_trait]
impl Tenants for Broken<dyn Store, dyn Fault> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.broken_tenant(tenant, || self.memory.open(tenant))
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.memory.open_dry_run(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        self.memory.ready().await
    }
}

impl CommitteeTenants for Broken<dyn CommitteeStore, dyn committee::Fault> {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.broken_tenant(tenant, || self.memory.open_committee(tenant))
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.memory.open_committee_dry_run(tenant)
    }
}

impl<S: ?Sized, F: ?Sized> Broken<S, F> {
    fn broken_tenant(
        &self,
        tenant: &TenantId,
        make: impl FnOnce() -> Arc<S>,
    ) -> Arc<BrokenTenant<S, F>> {
        Arc::new(BrokenTenant {
            own: self.opened.open(tenant, make),
            opened: Arc::clone(&self.opened),
            fault: Arc::clone(&self.fault),
            chaos: Arc::clone(&self.chaos),
        })
    }
}

/// One tenant of a [`Broken`] store.
pub(crate) struct BrokenTenant<S: ?Sized, F: ?Sized> {
    pub(crate) own: Arc<S>,
    pub(crate) opened: Arc<OpenTenants<S>>,
    pub(crate) fault: Arc<F>,
    pub(crate) chaos: Arc<Chaos>,
}

/// Whether a connection may resend this call: filings carry an attempt, which makes them idempotent, and reads
/// change nothing.
pub(crate) fn repeats(method: &str) -> bool {
    !(method.starts_with("save_")
        || method.starts_with("remove_")
        || [
            "accept_clock",
            "accept_key",
            "accept_store",
            "aggregate",
            "convene",
            "convene_once",
            "mark_went_back",
            "put_document",
            "queue_message",
        ]
        .contains(&method))
}

/// What a faulty method has access to: the store of its own tenant, and those of all open tenants.
pub(crate) struct TenantStores<S: ?Sized = dyn Store> {
    pub(crate) own: Arc<S>,
    pub(crate) all: Vec<Arc<S>>,
}

impl<S: ?Sized> TenantStores<S> {
    /// The stores of the other tenants.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Arc<S>> {
        self.all.iter().filter(|store| !Arc::ptr_eq(store, &self.own))
    }
}

/// The stores of all open tenants, each opened once.
pub(crate) struct OpenTenants<S: ?Sized>(Mutex<Vec<(TenantId, Arc<S>)>>);

impl<S: ?Sized> Default for OpenTenants<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: ?Sized> OpenTenants<S> {
    /// The store of this tenant, created on first use.
    pub(crate) fn open(&self, tenant: &TenantId, make: impl FnOnce() -> Arc<S>) -> Arc<S> {
        let mut opened = self.0.lock().unwrap();
        if let Some((_, store)) = opened.iter().find(|(known, _)| known == tenant) {
            return Arc::clone(store);
        }
        let store = make();
        opened.push((tenant.clone(), Arc::clone(&store)));
        store
    }

    /// What a faulty method of `own` has access to.
    pub(crate) fn seen_from(&self, own: &Arc<S>) -> TenantStores<S> {
        let opened = self.0.lock().unwrap();
        let all = opened.iter().map(|(_, store)| Arc::clone(store)).collect();
        TenantStores { own: Arc::clone(own), all }
    }
}

/// Makes a trait `Fault` of the methods of a port, whose defaults are correct, and the [`BrokenTenant`] that
/// calls them. `Port` has these methods.
macro_rules! faults {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {
        #[async_trait]
        pub(crate) trait Fault: Send + Sync + 'static {$($(
            async fn $method(&self, stores: &$crate::broken_stores::broken::TenantStores<Port>, $($name: $type),*) -> Result<$answer> {
                stores.own.$method($($name),*).await
            }
        )*)*}

        $(
            #[async_trait]
            impl $part for $crate::broken_stores::broken::BrokenTenant<Port, dyn Fault> {$(
                async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                    let stores = &self.opened.seen_from(&self.own);
                    let call = || self.fault.$method(stores, $($name),*);
                    let repeats = $crate::broken_stores::broken::repeats(stringify!($method));
                    self.chaos.carry(repeats, call).await
                }
            )*}
        )*

        impl Fault for $crate::broken_stores::broken::Intact {}
    };
}
pub(crate) use faults;

type Port = dyn Store;

swarm_core::port_methods!(
    faults: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts
);

/// No fault.
#[derive(Default)]
pub(crate) struct Intact;

tokio::task_local! {
    /// The clock of the store behind the fault, if the fault changes it.
    pub(crate) static SHOWN: Timestamp;
}

/// The time, or the fault's in place of it.
#[allow(clippy::disallowed_methods, reason = "the clock of the store under test")]
pub(crate) fn time() -> Timestamp {
    SHOWN.try_with(|shown| *shown).unwrap_or_else(|_| {
        let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        Timestamp::EPOCH.plus_millis(i64::try_from(since_1970.as_millis()).unwrap())
    })
}
