//! The conformance suite on the memory store.

use std::sync::{Mutex, PoisonError};

use swarm_core::{Store, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::ManualClock;

async fn in_memory() -> ((), Store) {
    ((), MemoryStore::new().into())
}

swarm_testing::conformance!(in_memory);

async fn with_a_clock() -> (ManualClock, Store) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, MemoryStore::with_clock(move || shown.now()).into())
}

swarm_testing::clock_conformance!(with_a_clock, ManualClock::set);

/// A store and its backup.
struct BackedUp {
    store: MemoryStore,
    backup: Mutex<MemoryStore>,
}

async fn that_goes_back() -> (BackedUp, Store) {
    let store = MemoryStore::new();
    let guard = BackedUp { store: store.clone(), backup: Mutex::default() };
    (guard, store.into())
}

async fn back_up(guard: &BackedUp) {
    *guard.backup.lock().unwrap_or_else(PoisonError::into_inner) = guard.store.copy();
}

async fn restore(guard: &BackedUp) {
    guard.store.go_back_to(&guard.backup.lock().unwrap_or_else(PoisonError::into_inner));
}

async fn again(guard: &BackedUp) -> Store {
    guard.store.opened_again().into()
}

swarm_testing::continuity_conformance!(that_goes_back, back_up, restore, again);

async fn in_one_process() -> ((), Vec<Store>) {
    ((), vec![MemoryStore::new().into()])
}

swarm_testing::change_feed_conformance!(in_one_process);
