//! Several handles of one store, called in rotation, as if by several processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::store::{
    Clock, Counts, Documents, Log, Members, Outbox, Readiness, Result, Sessions, Store, Takes,
    Tenants, Webhooks, async_trait,
};
use swarm_core::{TenantId, port_methods};

/// Several handles of one store, each opened as by a process of its own. Calls go to the handles in rotation, so no
/// two consecutive calls of a case share one. The suite then detects a guarantee that holds only within one process.
#[derive(Debug)]
pub struct RoundRobin<T>(Vec<T>);

impl<T: Tenants> RoundRobin<T> {
    /// Calls these handles in rotation.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(handles: Vec<T>) -> Self {
        assert!(!handles.is_empty(), "no handles");
        Self(handles)
    }
}

#[async_trait]
impl<T: Tenants> Tenants for RoundRobin<T> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        let handles = self.0.iter().map(|handle| handle.open(tenant)).collect();
        Arc::new(OneTenant { handles, calls: AtomicUsize::new(0) })
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        let handles = self.0.iter().map(|handle| handle.open_dry_run(tenant)).collect();
        Arc::new(OneTenant { handles, calls: AtomicUsize::new(0) })
    }

    async fn ready(&self) -> Result<Readiness> {
        let mut readiness = Readiness::default();
        for handle in &self.0 {
            readiness = handle.ready().await?;
        }
        Ok(readiness)
    }
}

struct OneTenant {
    handles: Vec<Arc<dyn Store>>,
    calls: AtomicUsize,
}

impl OneTenant {
    fn next(&self) -> &dyn Store {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.handles[call % self.handles.len()]
    }
}

macro_rules! call_round_robin {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {$(
        #[async_trait]
        impl $part for OneTenant {$(
            async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                // This call concerns the process, not the store, so every handle gets it.
                if stringify!($method) == "mark_went_back" {
                    for handle in &self.handles {
                        let _ = handle.$method($($name),*).await?;
                    }
                }
                self.next().$method($($name),*).await
            }
        )*}
    )*};
}

port_methods!(call_round_robin: Clock Members Sessions Takes Documents Outbox Log Webhooks Counts);
