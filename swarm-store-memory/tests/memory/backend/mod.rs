//! The conformance suite of backends on the backend in memory; and a test of the suite, by backends with one fault each.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod broken;
mod faults;

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use futures_util::FutureExt as _;
use swarm_core::store::backend::{Answer, Backend, CommitId, Head, Kind, Query, Transaction};
use swarm_core::{TenantId, Timestamp};
use swarm_store_memory::MemoryBackend;
use swarm_testing::ManualClock;
use swarm_testing::backend::wait_of_a_commit_counts_towards_its_deadline;

/// The time.
#[allow(clippy::disallowed_methods, reason = "the clock of the backend under test")]
pub(crate) fn time() -> Timestamp {
    let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    Timestamp::EPOCH.plus_millis(i64::try_from(since_1970.as_millis()).unwrap())
}

/// Checks that a case fails with a message about a promise.
async fn expect_broken(case: impl Future<Output = ()>) {
    let failed = AssertUnwindSafe(case).catch_unwind().await.expect_err("nobody noticed");
    let said = failed.downcast::<String>().map_or_else(|_| String::new(), |said| *said);
    assert!(said.contains("expected:") && said.contains("actual:"), "not about a promise: {said}");
}

async fn in_memory() -> ((), Arc<dyn Backend>) {
    ((), Arc::new(MemoryBackend::with_clock(time)))
}

swarm_testing::backend_conformance!(in_memory);

async fn with_a_clock() -> (ManualClock, Arc<dyn Backend>) {
    let clock = ManualClock::at(Timestamp::EPOCH);
    let shown = clock.clone();
    (clock, Arc::new(MemoryBackend::with_clock(move || shown.now())))
}

swarm_testing::backend_conformance!(clock with_a_clock, ManualClock::set);

async fn in_one_process() -> ((), Vec<Arc<dyn Backend>>) {
    ((), vec![Arc::new(MemoryBackend::with_clock(time))])
}

swarm_testing::backend_conformance!(feed in_one_process);

thread_local! {
    /// What the thread tells when it reads the clock, and what it then waits for.
    static HELD: Cell<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>> = const { Cell::new(None) };
}

/// The time. A thread that holds the tenant of its commit waits here until it is let go.
fn held_time() -> Timestamp {
    if let Some((entered, leave)) = HELD.take() {
        entered.send(()).unwrap();
        let _ = leave.recv();
    }
    time()
}

/// Begins a commit of the tenant, which ends when what is returned is dropped.
async fn hold(memory: MemoryBackend, tenant: TenantId) -> mpsc::Sender<()> {
    let ((entered, is_entered), (let_go, leave)) = (mpsc::channel(), mpsc::channel());
    thread::spawn(move || {
        HELD.set(Some((entered, leave)));
        memory.commit(&tenant, "hold", transaction()).now_or_never().unwrap().unwrap();
    });
    is_entered.recv().unwrap();
    let_go
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commit_reads_the_clock_after_its_wait() {
    let memory = MemoryBackend::with_clock(held_time);
    let backend = Arc::new(memory.clone());
    let hold = async |tenant: &TenantId| hold(memory, tenant.clone()).await;
    wait_of_a_commit_counts_towards_its_deadline(backend, hold).await;
}

/// A snapshot has all commits up to its time: the clock is read first. Here, a commit is made just then.
#[tokio::test]
async fn snapshot_reads_the_clock_before_the_records() {
    let (tenant, committing) = (TenantId::parse("acme").unwrap(), Arc::new(Mutex::new(None)));
    let memory = MemoryBackend::with_clock({
        let (tenant, committing) = (tenant.clone(), Arc::clone(&committing));
        move || {
            let memory: Option<MemoryBackend> = committing.lock().unwrap().take();
            if let Some(memory) = memory {
                let sent = Transaction { sequences: vec!["parcels"], ..transaction() };
                memory.commit(&tenant, "test", sent).now_or_never().unwrap().unwrap();
            }
            time()
        }
    });
    *committing.lock().unwrap() = Some(memory.clone());
    let mut snapshot = memory.snapshot(&tenant).await.unwrap();
    let reading = snapshot.read(vec![Query::Sequence("parcels")]).await.unwrap();
    assert!(matches!(reading.answers[..], [Answer::Number(1)]), "{reading:?}");
}

/// A transaction that does nothing.
fn transaction() -> Transaction {
    Transaction {
        id: CommitId([0; 16]),
        kind: Kind::Usual,
        seen: Head::default(),
        repetition: None,
        checks: Vec::new(),
        sequences: Vec::new(),
        writes: Vec::new(),
        entries: Vec::new(),
        erases: false,
    }
}
