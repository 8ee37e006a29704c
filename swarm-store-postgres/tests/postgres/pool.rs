//! Who waits for connections of the pool.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::time::Duration;

use swarm_core::TenantId;
use swarm_core::domain::TakeId;
use swarm_core::store::MemberSaved;
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;
use swarm_testing::{Author, TestTenant};
use tokio::time::{sleep, timeout};
use tokio_postgres::NoTls;

/// A dump uses a connection as long as it is open.
#[tokio::test]
async fn commit_does_not_wait_for_dumps() {
    let server = Server::start(&[]);
    let url = format!("{}&pool=4&statement_timeout=1", server.url());
    let store = PostgresStore::create(&url).await.unwrap();
    let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
    let mut dumps = Vec::new();
    for _ in 0..4 {
        dumps.extend(store.dump(&world.id).await);
    }
    assert_eq!(dumps.len(), 3);
    let creation = Author::named("bob").creation();
    assert_eq!(world.store().save_member(&creation).await.unwrap(), MemberSaved::Saved);
}

/// Without connections of their own, commits would wait for the reads that came before.
#[tokio::test]
async fn commit_does_not_wait_for_reads() {
    let server = Server::start(&[]);
    let url = server.url();
    let schema = url.split_once("schema=").unwrap().1;
    let store = PostgresStore::create(&format!("{url}&pool=4")).await.unwrap();
    let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
    let (blocker, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock = format!("BEGIN; LOCK TABLE {schema}.takes IN ACCESS EXCLUSIVE MODE");
    blocker.batch_execute(&lock).await.unwrap();
    let reads: Vec<_> = (0..40)
        .map(|_| {
            let store = store.open(&TenantId::parse("acme").unwrap());
            tokio::spawn(async move { store.take(TakeId(1)).await })
        })
        .collect();
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    while server.psql(waiting) != "3" {
        sleep(Duration::from_millis(10)).await;
    }
    let creation = Author::named("bob").creation();
    let saved = timeout(Duration::from_secs(2), world.store().save_member(&creation)).await;
    assert_eq!(saved.unwrap().unwrap(), MemberSaved::Saved);
    blocker.batch_execute("ROLLBACK").await.unwrap();
    for read in reads {
        assert!(read.await.unwrap().unwrap().is_none());
    }
}
