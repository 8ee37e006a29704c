//! The change feed: each process on a Redis learns which tenants have changed, with one call.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::time::Duration;

use swarm_core::store::Filed;
use swarm_core::{Store, TenantId};
use swarm_redis_testing::{Proxy, Server, wait_until};
use swarm_store_redis::RedisStore;
use swarm_testing::TestTenant;
use tokio::time::timeout;

use crate::world::{draft, joined, judged};

async fn two_connected() -> (Server, Vec<Store>) {
    let redis = Server::start(&["--appendonly", "no"]);
    let processes = [open(&redis).await, open(&redis).await].map(Store::from).into();
    (redis, processes)
}

swarm_testing::change_feed_conformance!(two_connected);

#[tokio::test]
async fn change_is_announced_before_and_after_its_commit() {
    let redis = Server::start(&["--appendonly", "no"]);
    let [one, other, third] = [open(&redis).await, open(&redis).await, open(&redis).await];
    // The first call of a store has no earlier announcement to compare with.
    assert_eq!([changed(&one).await, changed(&other).await], [None, None]);
    assert_eq!([changed(&one).await, changed(&other).await], [heard(&[]), heard(&[])]);

    // Announced before the commit, so it is received without a further call of the first store.
    change(&one, "acme").await;
    change(&one, "bolt").await;
    assert_eq!(changed(&other).await, heard(&["acme", "bolt"]));
    assert_eq!(changed(&other).await, heard(&[]));
    // A store receives its own announcements too, and repeats them; each tenant is named once.
    assert_eq!(changed(&one).await, heard(&["acme", "bolt"]));
    assert_eq!(changed(&one).await, heard(&[]));
    assert_eq!(changed(&other).await, heard(&["acme", "bolt"]));
    assert_eq!(changed(&other).await, heard(&[]));
    assert_eq!(changed(&third).await, None);
}

/// An announcement may be received before its commit is made.
#[tokio::test]
async fn announcement_is_repeated_when_its_commit_must_have_ended() {
    let redis = Server::start(&["--appendonly", "no"]);
    let [one, other] = [open(&redis).await, open(&redis).await];
    changed(&other).await;
    change(&one, "acme").await;
    assert_eq!(changed(&other).await, heard(&["acme"]));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(changed(&other).await, heard(&[]));
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(changed(&other).await, heard(&["acme"]));
    assert_eq!(changed(&other).await, heard(&[]));
}

#[tokio::test]
async fn changes_are_unknown_after_announcements_are_lost() {
    let mut redis = Server::start(&["--appendonly", "no"]);
    let [one, other] = [open(&redis).await, open(&redis).await];
    change(&one, "acme").await;
    changed(&one).await;
    changed(&other).await;
    redis.cli(&["del", "swarm:changes"]);
    assert_eq!(changed(&other).await, None);
    assert_eq!(changed(&other).await, heard(&[]));

    // A failed announcement is made again when the server is back.
    change(&one, "bolt").await;
    redis.stop();
    one.changes().await.unwrap_err();
    redis.resume_with(&["--appendonly", "no"]);
    while one.changes().await.is_err() {}
    wait_until("it is announced", || {
        redis.cli(&["xrevrange", "swarm:changes", "+", "-", "count", "1"]).contains("bolt")
    });
}

/// The new primary lacks announcements that were read, and gets others.
#[tokio::test]
async fn changes_are_unknown_after_a_failover_however_many_follow() {
    let redis = Server::start(&["--appendonly", "no"]);
    let [one, other] = [open(&redis).await, open(&redis).await];
    change(&one, "acme").await;
    changed(&other).await;
    redis.cli(&["copy", "swarm:changes", "received"]);
    change(&one, "bolt").await;
    assert_eq!(changed(&other).await, heard(&["bolt"]));

    redis.cli(&["rename", "received", "swarm:changes"]);
    for tenant in ["acme", "bolt", "crow"] {
        change(&one, tenant).await;
    }
    assert_eq!(changed(&other).await, None);
    change(&one, "dove").await;
    assert_eq!(changed(&other).await, heard(&["dove"]));
}

/// Takes are announced only by this call.
#[tokio::test]
async fn call_that_is_dropped_leaves_its_announcements_to_the_next() {
    let redis = Server::start(&["--appendonly", "no"]);
    let proxy = Proxy::in_front_of(redis.port).await;
    let one = RedisStore::connect(&proxy.url("redis")).await.unwrap();
    let other = open(&redis).await;
    let store = crate::world::open(&one);
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let filing = judged(&store, &author, &session, "nonce").await;
    changed(&one).await;
    changed(&other).await;

    assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    proxy.mute();
    timeout(Duration::from_millis(100), one.changes()).await.unwrap_err();
    // Loses the connection.
    one.changes().await.unwrap_err();
    changed(&one).await;
    assert_eq!(changed(&other).await, heard(&["acme"]));
}

async fn open(redis: &Server) -> RedisStore {
    RedisStore::connect(&redis.url()).await.unwrap()
}

async fn change(store: &RedisStore, tenant: &str) {
    let tenant = TenantId::parse(tenant).unwrap();
    TestTenant::open(store.clone(), tenant).convened("aurora").await;
}

async fn changed(store: &RedisStore) -> Option<Vec<String>> {
    let tenants = store.changes().await.unwrap().tenants;
    tenants.map(|changed| changed.iter().map(|tenant| tenant.as_str().to_owned()).collect())
}

#[expect(clippy::unnecessary_wraps, reason = "as it is compared")]
fn heard(tenants: &[&str]) -> Option<Vec<String>> {
    Some(tenants.iter().map(|&tenant| tenant.to_owned()).collect())
}
