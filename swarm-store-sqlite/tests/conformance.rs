//! The SQLite store keeps every promise of the port.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::Tenants;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;

async fn in_a_file() -> (TempDir, Arc<dyn Tenants>) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    (folder, Arc::new(store))
}

async fn opened_again(folder: &TempDir) -> Arc<dyn Tenants> {
    Arc::new(SqliteStore::open(folder.path().join("swarm.db")).unwrap())
}

swarm_core::conformance!(in_a_file, opened_again);
