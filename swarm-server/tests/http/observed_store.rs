//! A store decorator that calls a listener before and after each call. The listener may fail, panic or write
//! to the store. Each call yields like one over a network, so other requests interleave.

use std::sync::Arc;

use swarm_core::store::{
    Clock, Committee, CommitteeStore, Counts, Documents, Log, Members, Outbox, Readiness, Result,
    Sessions, Store, Takes, Webhooks, async_trait,
};
use swarm_core::{CommitteeTenants, TenantId, Tenants};
use swarm_store_memory::MemoryStore;

/// A store call, as the listener sees it.
pub struct StoreCall<'a> {
    pub method: &'static str,
    /// The `{:?}` of the arguments.
    pub arguments: &'a str,
    /// Whether the inner store has done its work.
    pub done: bool,
}

type Listener = dyn Fn(&StoreCall<'_>) -> Result<()> + Send + Sync;

#[derive(Clone)]
pub struct ObservedStore {
    store: MemoryStore,
    listener: Arc<Listener>,
}

impl ObservedStore {
    pub fn new(
        store: &MemoryStore,
        listener: impl Fn(&StoreCall<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { store: store.clone(), listener: Arc::new(listener) }
    }
}

#[async_trait]
impl Tenants for ObservedStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        let store = self.store.open(tenant);
        Arc::new(ObservedTenant { store, listener: Arc::clone(&self.listener) })
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        let store = self.store.open_dry_run(tenant);
        Arc::new(ObservedTenant { store, listener: Arc::clone(&self.listener) })
    }

    async fn ready(&self) -> Result<Readiness> {
        (self.listener)(&StoreCall { method: "ready", arguments: "()", done: false })?;
        self.store.ready().await
    }
}

impl CommitteeTenants for ObservedStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        let store = self.store.open_committee(tenant);
        Arc::new(ObservedTenant { store, listener: Arc::clone(&self.listener) })
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        let store = self.store.open_committee_dry_run(tenant);
        Arc::new(ObservedTenant { store, listener: Arc::clone(&self.listener) })
    }
}

/// One interface of one tenant.
struct ObservedTenant<S: ?Sized> {
    store: Arc<S>,
    listener: Arc<Listener>,
}

macro_rules! observed {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {$(
        #[async_trait]
        impl<S: $part + ?Sized> $part for ObservedTenant<S> {
            $(async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                let method = stringify!($method);
                let arguments: &[String] = &[$(format!("{:?}", $name)),*];
                let arguments = &*arguments.join("; ");
                tokio::task::yield_now().await;
                (self.listener)(&StoreCall { method, arguments, done: false })?;
                let outcome = self.store.$method($($name),*).await?;
                (self.listener)(&StoreCall { method, arguments, done: true })?;
                tokio::task::yield_now().await;
                Ok(outcome)
            })*
        }
    )*};
}

swarm_core::port_methods!(
    observed: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts Committee
);
