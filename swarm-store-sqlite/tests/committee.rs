//! The SQLite store keeps the promises of the committee's port.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::CommitteeTenants;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

async fn in_a_file() -> (TempDir, Arc<dyn CommitteeTenants>) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    (folder, Arc::new(store))
}

swarm_core::committee_conformance!(in_a_file);
