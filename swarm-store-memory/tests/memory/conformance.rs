//! The conformance suite on the memory store.

use std::sync::{Arc, Mutex, PoisonError};

use swarm_core::{Tenants, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::ManualClock;
use swarm_testing::conformance::Process;

async fn in_memory() -> ((), Arc<dyn Tenants>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_testing::conformance!(in_memory);

async fn with_a_clock() -> (ManualClock, Arc<dyn Tenants>) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, Arc::new(MemoryStore::with_clock(move || shown.now())))
}

swarm_testing::clock_conformance!(with_a_clock, ManualClock::set);

/// A store and its backup.
struct BackedUp {
    store: MemoryStore,
    backup: Mutex<MemoryStore>,
}

async fn that_goes_back() -> (BackedUp, Arc<dyn Tenants>) {
    let store = MemoryStore::new();
    let guard = BackedUp { store: store.clone(), backup: Mutex::default() };
    (guard, Arc::new(store))
}

async fn back_up(guard: &BackedUp) {
    *guard.backup.lock().unwrap_or_else(PoisonError::into_inner) = guard.store.copy();
}

async fn restore(guard: &BackedUp) {
    guard.store.restore(&guard.backup.lock().unwrap_or_else(PoisonError::into_inner));
}

async fn again(guard: &BackedUp) -> Arc<dyn Tenants> {
    Arc::new(guard.store.opened_again())
}

swarm_testing::continuity_conformance!(that_goes_back, back_up, restore, again);

async fn that_moves() -> ((), Arc<MemoryStore>) {
    ((), Arc::new(MemoryStore::new()))
}

swarm_testing::transfer_conformance!(that_moves);

async fn in_one_process() -> ((), Vec<Process>) {
    ((), vec![Process::of(MemoryStore::new())])
}

swarm_testing::change_feed_conformance!(in_one_process);
