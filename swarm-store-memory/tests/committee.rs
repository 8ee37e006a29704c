//! The memory store keeps the promises of the committee's port.

use std::sync::Arc;

use swarm_core::CommitteeTenants;
use swarm_store_memory::MemoryStore;

async fn memory() -> ((), Arc<dyn CommitteeTenants>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_core::committee_conformance!(memory);
