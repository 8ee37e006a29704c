//! All cases of the conformance suite, each on a store whose calls a [`Plan`] changes.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::store::Records;
use swarm_core::{CommitteeTenants, Tenants, Timestamp};
use swarm_store_memory::MemoryBackend;
use swarm_testing::ManualClock;
use swarm_testing::conformance::{Case, Process};
use tokio::time::timeout;

use super::mutated::Mutated;
use super::sites::Plan;
use crate::backend::time;
use crate::decorated::store;

/// After this time a case has failed.
const PATIENCE: Duration = Duration::from_secs(30);

thread_local! {
    /// The plan of the case that this thread runs.
    static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
}

type Store = Records<Mutated<MemoryBackend>>;

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::from(swarm_testing::conformance_cases!(list mutated));
    cases.extend(swarm_testing::durability_cases!(list opened, reopened));
    cases.extend(swarm_testing::clock_cases!(list with_a_clock, ManualClock::set));
    cases.extend(swarm_testing::continuity_cases!(list that_goes_back, back_up, restore, again));
    cases.extend(swarm_testing::transfer_cases!(list that_moves));
    cases.extend(swarm_testing::change_feed_cases!(list in_one_process));
    cases.extend(swarm_testing::committee_conformance_cases!(list committee));
    cases.extend(
        swarm_testing::committee_clock_cases!(list committee_with_a_clock, ManualClock::set),
    );
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

fn over(memory: MemoryBackend) -> Store {
    let plan = PLAN.with_borrow(Clone::clone).expect("a case runs");
    store(Mutated { backend: Arc::new(memory), plan })
}

fn empty() -> Store {
    over(MemoryBackend::with_clock(time))
}

async fn mutated() -> ((), Arc<dyn Tenants>) {
    ((), Arc::new(empty()))
}

async fn committee() -> ((), Arc<dyn CommitteeTenants>) {
    ((), Arc::new(empty()))
}

async fn that_moves() -> ((), Arc<Store>) {
    ((), Arc::new(empty()))
}

async fn in_one_process() -> ((), Vec<Process>) {
    ((), vec![Process::of(empty())])
}

async fn opened() -> (Store, Arc<dyn Tenants>) {
    let store = empty();
    (store.clone(), Arc::new(store))
}

async fn reopened(store: &Store) -> Arc<dyn Tenants> {
    let plan = Arc::clone(&store.backend().plan);
    let is_lost = plan.makes("reopen", format_args!("records: lost"));
    Arc::new(if is_lost { empty() } else { store.opened_again() })
}

fn on_a_clock() -> (ManualClock, Store) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, over(MemoryBackend::with_clock(move || shown.now())))
}

async fn with_a_clock() -> (ManualClock, Arc<dyn Tenants>) {
    let (clock, store) = on_a_clock();
    (clock, Arc::new(store))
}

async fn committee_with_a_clock() -> (ManualClock, Arc<dyn CommitteeTenants>) {
    let (clock, store) = on_a_clock();
    (clock, Arc::new(store))
}

/// A store, its backend, and a backup of that.
struct BackedUp {
    store: Store,
    memory: MemoryBackend,
    backup: Mutex<Option<MemoryBackend>>,
}

async fn that_goes_back() -> (BackedUp, Arc<dyn Tenants>) {
    let memory = MemoryBackend::with_clock(time);
    let store = over(memory.clone());
    (BackedUp { store: store.clone(), memory, backup: Mutex::default() }, Arc::new(store))
}

async fn back_up(guard: &BackedUp) {
    *guard.backup.lock().unwrap() = Some(guard.memory.copy());
}

async fn restore(guard: &BackedUp) {
    guard.memory.restore(guard.backup.lock().unwrap().as_ref().expect("it was backed up"));
}

async fn again(guard: &BackedUp) -> Arc<dyn Tenants> {
    Arc::new(guard.store.opened_again())
}
