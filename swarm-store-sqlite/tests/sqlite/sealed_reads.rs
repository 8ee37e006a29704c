//! What reads of a sealed session return.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use rusqlite::Connection;
use swarm_core::store::TABLES;
use swarm_core::{TenantId, Timestamp};
use swarm_store_sqlite::{SqliteBackend, SqliteStore};
use swarm_testing::{SealedDesk, TestTenant, sealed_reads_return_the_same_bytes};
use tempfile::TempDir;

#[tokio::test]
async fn reads_of_a_sealed_session_return_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("swarm.db");
    let backend = SqliteBackend::open(path, || Timestamp::EPOCH, TABLES).unwrap();
    sealed_reads_return_the_same_bytes(backend).await;
}

/// So nothing depends on it.
#[tokio::test]
async fn reads_of_a_sealed_session_do_not_parse_what_is_sealed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("swarm.db");
    let store = SqliteStore::open(&path).unwrap();
    let desk = SealedDesk::filed(store.clone(), "desk", false).await;
    let file = Connection::open(&path).unwrap();
    file.execute("UPDATE takes SET payload = 'garbled'", []).unwrap();
    let memos = "UPDATE documents SET record = 'garbled' WHERE collection = 'memos'";
    assert_eq!(file.execute(memos, []).unwrap(), 1);
    for name in SealedDesk::READS {
        desk.read(name).await;
    }
    let tenant = TestTenant::open(store, TenantId::parse("desk").unwrap());
    let whole = swarm_testing::takes_of(tenant.store(), swarm_core::SessionId(1)).await;
    assert_eq!(whole.unwrap_err().kind(), swarm_core::StoreErrorKind::Corrupt);
}
