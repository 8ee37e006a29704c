//! All cases of the conformance suite, each on a store whose calls a [`Plan`] changes.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::{Store, Timestamp};
use swarm_store_memory::MemoryBackend;
use swarm_testing::ManualClock;
use swarm_testing::conformance::Case;
use tokio::time::timeout;

use super::mutated::Mutated;
use super::sites::Plan;
use crate::backend::time;

/// After this time a case has failed.
const PATIENCE: Duration = Duration::from_secs(30);

thread_local! {
    /// The plan of the case that this thread runs.
    static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::from(swarm_testing::conformance_cases!(list mutated));
    cases.extend(swarm_testing::durability_cases!(list opened, reopened));
    cases.extend(swarm_testing::clock_cases!(list with_a_clock, ManualClock::set));
    cases.extend(swarm_testing::continuity_cases!(list that_goes_back, back_up, restore, again));
    cases.extend(swarm_testing::transfer_cases!(list mutated));
    cases.extend(swarm_testing::change_feed_cases!(list in_one_process));
    cases.extend(swarm_testing::committee_conformance_cases!(list mutated));
    cases.extend(swarm_testing::committee_clock_cases!(list with_a_clock, ManualClock::set));
    cases
}

/// Whether a case passes.
pub(crate) fn passes(case: &Case, plan: &Arc<Plan>) -> bool {
    PLAN.set(Some(Arc::clone(plan)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let run = || runtime.block_on(async { timeout(PATIENCE, (case.run)()).await });
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    runtime.shutdown_background();
    matches!(outcome, Ok(Ok(())))
}

fn plan() -> Arc<Plan> {
    PLAN.with_borrow(Clone::clone).expect("a case runs")
}

fn over(memory: MemoryBackend) -> Store {
    Store::new(Mutated { backend: Arc::new(memory), plan: plan() })
}

fn empty() -> Store {
    over(MemoryBackend::with_clock(time))
}

async fn mutated() -> ((), Store) {
    ((), empty())
}

async fn in_one_process() -> ((), Vec<Store>) {
    ((), vec![empty()])
}

async fn opened() -> (Store, Store) {
    let store = empty();
    (store.clone(), store)
}

async fn reopened(store: &Store) -> Store {
    let is_lost = plan().makes("reopen", format_args!("records: lost"));
    if is_lost { empty() } else { store.opened_again() }
}

async fn with_a_clock() -> (ManualClock, Store) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, over(MemoryBackend::with_clock(move || shown.now())))
}

/// A store, its backend, and a backup of that.
struct BackedUp {
    store: Store,
    memory: MemoryBackend,
    backup: Mutex<Option<MemoryBackend>>,
}

async fn that_goes_back() -> (BackedUp, Store) {
    let memory = MemoryBackend::with_clock(time);
    let store = over(memory.clone());
    (BackedUp { store: store.clone(), memory, backup: Mutex::default() }, store)
}

async fn back_up(guard: &BackedUp) {
    *guard.backup.lock().unwrap() = Some(guard.memory.copy());
}

async fn restore(guard: &BackedUp) {
    guard.memory.restore(guard.backup.lock().unwrap().as_ref().expect("it was backed up"));
}

async fn again(guard: &BackedUp) -> Store {
    guard.store.opened_again()
}
