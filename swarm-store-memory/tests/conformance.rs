//! The memory store keeps every promise of the port.

use std::sync::Arc;

use swarm_core::Tenants;
use swarm_store_memory::MemoryStore;

async fn in_memory() -> ((), Arc<dyn Tenants>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_core::conformance!(in_memory);
