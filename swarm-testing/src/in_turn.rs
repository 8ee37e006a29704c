//! Several handles of one store, called in turn, as if its callers were several processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::store::{
    Clock, Counts, Documents, Log, Members, Outbox, Readiness, Result, Sessions, Store, Takes,
    Tenants, async_trait,
};
use swarm_core::{TenantId, port_methods};

/// Handles of one store, each opened as another process would, of which each call takes the next. So the suite
/// finds what a store ensures only within a process: with it, no two calls of a case in a row share one.
#[derive(Debug)]
pub struct InTurn<T>(Vec<T>);

impl<T: Tenants> InTurn<T> {
    /// Calls these in turn.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(handles: Vec<T>) -> Self {
        assert!(!handles.is_empty(), "no handles");
        Self(handles)
    }
}

#[async_trait]
impl<T: Tenants> Tenants for InTurn<T> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        let handles = self.0.iter().map(|handle| handle.open(tenant)).collect();
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

macro_rules! call_in_turn {
    ($($part:ident { $($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)* })*) => {$(
        #[async_trait]
        impl $part for OneTenant {$(
            async fn $method(&self, $($name: $type),*) -> Result<$answer> {
                // It is said to a process, not to the store.
                if stringify!($method) == "mistrust" {
                    for handle in &self.handles {
                        let _ = handle.$method($($name),*).await?;
                    }
                }
                self.next().$method($($name),*).await
            }
        )*}
    )*};
}

port_methods!(call_in_turn: Clock Members Sessions Takes Documents Outbox Log Counts);
