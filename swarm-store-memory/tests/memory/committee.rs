//! The committee's conformance suite on the memory store.

use std::sync::Arc;

use swarm_core::{CommitteeTenants, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::ManualClock;

async fn memory() -> ((), Arc<dyn CommitteeTenants>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_testing::committee_conformance!(memory);

async fn with_a_clock() -> (ManualClock, Arc<dyn CommitteeTenants>) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, Arc::new(MemoryStore::with_clock(move || shown.now())))
}

swarm_testing::committee_clock_conformance!(with_a_clock, ManualClock::set);
