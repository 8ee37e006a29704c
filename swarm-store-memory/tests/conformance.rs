//! The memory store keeps every promise of the port.

use std::sync::Arc;

use swarm_core::testing::ManualClock;
use swarm_core::{Tenants, Timestamp};
use swarm_store_memory::MemoryStore;

async fn in_memory() -> ((), Arc<dyn Tenants>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_core::conformance!(in_memory);

async fn with_a_clock() -> (ManualClock, Arc<dyn Tenants>) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, Arc::new(MemoryStore::with_clock(move || shown.now())))
}

swarm_core::clock_conformance!(with_a_clock, ManualClock::set);
