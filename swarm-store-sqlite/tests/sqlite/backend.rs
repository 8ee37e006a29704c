//! The conformance suite of backends.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::store::backend::Backend;
use swarm_store_sqlite::SqliteBackend;
use swarm_testing::ManualClock;
use swarm_testing::backend::TABLES;
use tempfile::TempDir;

fn open(folder: &TempDir, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> SqliteBackend {
    SqliteBackend::open(folder.path().join("backend.db"), clock, TABLES).unwrap()
}

fn system_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    Timestamp::EPOCH.plus_millis(since_1970.as_millis().try_into().unwrap())
}

async fn in_a_file() -> (TempDir, Arc<dyn Backend>) {
    let folder = tempfile::tempdir().unwrap();
    let backend = open(&folder, system_time);
    (folder, Arc::new(backend))
}

async fn again(folder: &TempDir) -> Arc<dyn Backend> {
    Arc::new(open(folder, system_time))
}

swarm_testing::backend_conformance!(in_a_file);
swarm_testing::backend_conformance!(durability in_a_file, again);

type FileAndClock = (TempDir, ManualClock);

async fn with_a_clock() -> (FileAndClock, Arc<dyn Backend>) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
    let shown = clock.clone();
    let backend = open(&folder, move || shown.now());
    ((folder, clock), Arc::new(backend))
}

fn set((_, clock): &FileAndClock, now: Timestamp) {
    clock.set(now);
}

swarm_testing::backend_conformance!(clock with_a_clock, set);

async fn in_two_processes() -> (TempDir, Vec<Arc<dyn Backend>>) {
    let folder = tempfile::tempdir().unwrap();
    let processes = (0..2).map(|_| Arc::new(open(&folder, system_time)) as Arc<dyn Backend>);
    let processes = processes.collect();
    (folder, processes)
}

swarm_testing::backend_conformance!(feed in_two_processes);
