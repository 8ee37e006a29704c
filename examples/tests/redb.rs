//! The conformance suites on the store of `redb_store.rs`.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

#[path = "../redb_store.rs"]
#[allow(dead_code, reason = "the example is a program")]
mod redb_store;

use std::sync::{Arc, Mutex};

use redb::Database;
use redb_store::{RedbBackend, system_time};
use swarm_core::store::TABLES;
use swarm_core::{Store, TenantId, Timestamp};
use swarm_testing::ManualClock;
use tempfile::TempDir;

fn database(folder: &TempDir) -> Arc<Database> {
    Arc::new(Database::create(folder.path().join("swarm.redb")).unwrap())
}

fn store(database: &Arc<Database>) -> Store {
    Store::new(RedbBackend::new(Arc::clone(database), system_time, TABLES).unwrap())
}

async fn in_a_file() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&database(&folder));
    (folder, store)
}

async fn reopened(folder: &TempDir) -> Store {
    store(&database(folder))
}

swarm_testing::conformance!(in_a_file, reopened);

type FileAndClock = (TempDir, ManualClock);

async fn with_a_clock() -> (FileAndClock, Store) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
    let shown = clock.clone();
    let backend = RedbBackend::new(database(&folder), move || shown.now(), TABLES).unwrap();
    ((folder, clock), Store::new(backend))
}

fn set((_, clock): &FileAndClock, now: Timestamp) {
    clock.set(now);
}

swarm_testing::clock_conformance!(with_a_clock, set);

async fn in_one_process() -> (TempDir, Vec<Store>) {
    let (folder, store) = in_a_file().await;
    (folder, vec![store])
}

swarm_testing::change_feed_conformance!(in_one_process);

/// A database, and the savepoint that is its backup.
struct BackedUp {
    database: Arc<Database>,
    savepoint: Mutex<Option<u64>>,
    _folder: TempDir,
}

async fn that_goes_back() -> (BackedUp, Store) {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let store = store(&database);
    (BackedUp { database, savepoint: Mutex::default(), _folder: folder }, store)
}

async fn back_up(guard: &BackedUp) {
    let change = guard.database.begin_write().unwrap();
    *guard.savepoint.lock().unwrap() = Some(change.persistent_savepoint().unwrap());
    change.commit().unwrap();
}

async fn restore(guard: &BackedUp) {
    let mut change = guard.database.begin_write().unwrap();
    let savepoint = guard.savepoint.lock().unwrap().unwrap();
    let savepoint = change.get_persistent_savepoint(savepoint).unwrap();
    change.restore_savepoint(&savepoint).unwrap();
    change.commit().unwrap();
}

async fn again(guard: &BackedUp) -> Store {
    store(&guard.database)
}

swarm_testing::continuity_conformance!(that_goes_back, back_up, restore, again);

/// The suite of backends, on its own tables.
mod backend {
    use swarm_core::store::backend::Backend;
    use swarm_testing::backend::{TABLES, wait_of_a_commit_counts_towards_its_deadline};

    use super::*;

    fn open(
        database: Arc<Database>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Arc<dyn Backend> {
        Arc::new(RedbBackend::new(database, clock, TABLES).unwrap())
    }

    async fn in_a_file() -> (TempDir, Arc<dyn Backend>) {
        let folder = tempfile::tempdir().unwrap();
        let backend = open(database(&folder), system_time);
        (folder, backend)
    }

    async fn reopened(folder: &TempDir) -> Arc<dyn Backend> {
        open(database(folder), system_time)
    }

    swarm_testing::backend_conformance!(in_a_file);
    swarm_testing::backend_conformance!(durability in_a_file, reopened);

    async fn with_a_clock() -> (FileAndClock, Arc<dyn Backend>) {
        let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
        let shown = clock.clone();
        let backend = open(database(&folder), move || shown.now());
        ((folder, clock), backend)
    }

    swarm_testing::backend_conformance!(clock with_a_clock, set);

    async fn in_one_process() -> (TempDir, Vec<Arc<dyn Backend>>) {
        let (folder, backend) = in_a_file().await;
        (folder, vec![backend])
    }

    swarm_testing::backend_conformance!(feed in_one_process);

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn wait_for_the_database_counts_towards_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder);
        let backend = open(Arc::clone(&database), system_time);
        let hold = async |_: &TenantId| database.begin_write().unwrap();
        wait_of_a_commit_counts_towards_its_deadline(backend, hold).await;
    }
}
