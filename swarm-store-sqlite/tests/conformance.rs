//! The SQLite store keeps every promise of both ports.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::testing::ManualClock;
use swarm_core::{CommitteeTenants, Tenants, Timestamp};
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

fn open(folder: &TempDir) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(folder.path().join("swarm.db")).unwrap())
}

mod interface_a {
    use super::*;

    async fn in_a_file() -> (TempDir, Arc<dyn Tenants>) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        (folder, store)
    }

    async fn again(folder: &TempDir) -> Arc<dyn Tenants> {
        open(folder)
    }

    swarm_core::conformance!(in_a_file, again);

    async fn with_a_clock() -> ((TempDir, ManualClock), Arc<dyn Tenants>) {
        let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
        let (path, shown) = (folder.path().join("swarm.db"), clock.clone());
        let store = SqliteStore::open_with_clock(path, move || shown.now()).unwrap();
        ((folder, clock), Arc::new(store))
    }

    fn set((_, clock): &(TempDir, ManualClock), now: Timestamp) {
        clock.set(now);
    }

    swarm_core::clock_conformance!(with_a_clock, set);
}

mod interface_b {
    use super::*;

    async fn in_a_file() -> (TempDir, Arc<dyn CommitteeTenants>) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        (folder, store)
    }

    async fn again(folder: &TempDir) -> Arc<dyn CommitteeTenants> {
        open(folder)
    }

    swarm_core::committee_conformance!(in_a_file, again);
}
