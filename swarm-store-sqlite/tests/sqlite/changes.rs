//! The change feed of a file that several stores have open.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::{Store, TenantId};
use swarm_store_sqlite::SqliteStore;
use swarm_testing::TestTenant;
use tempfile::TempDir;

async fn opened_twice() -> (TempDir, Vec<Store>) {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    let processes = [open(), open()].map(Store::from).into();
    (folder, processes)
}

swarm_testing::change_feed_conformance!(opened_twice);

#[tokio::test]
async fn own_changes_name_tenants_and_changes_of_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    let (one, other) = (open(), open());
    changed(&one).await;
    changed(&other).await;
    assert_eq!(changed(&one).await, Some(Vec::new()));

    change(&one, "acme").await;
    assert_eq!(changed(&one).await, Some(vec![tenant("acme")]));
    assert_eq!(changed(&one).await, Some(Vec::new()));
    assert_eq!(changed(&other).await, None);
    assert_eq!(changed(&other).await, Some(Vec::new()));
}

async fn change(store: &SqliteStore, id: &str) {
    TestTenant::open(store.clone(), tenant(id)).convened("aurora").await;
}

async fn changed(store: &SqliteStore) -> Option<Vec<TenantId>> {
    store.changes().await.unwrap().tenants
}

fn tenant(id: &str) -> TenantId {
    TenantId::parse(id).unwrap()
}
