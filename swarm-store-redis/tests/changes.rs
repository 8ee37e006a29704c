//! Each process on a Redis hears which tenants have changed, by one call.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::store::ChangeFeed;
use swarm_redis_testing::{Server, wait_until};
use swarm_store_redis::RedisStore;
use swarm_testing::World;

#[tokio::test]
async fn a_change_is_heard_by_all_and_once() {
    let redis = Server::start(&["--appendonly", "no"]);
    let [one, other, third] = [open(&redis).await, open(&redis).await, open(&redis).await];
    // Who has heard nothing yet does not know what has changed.
    assert_eq!([changed(&one).await, changed(&other).await], [None, None]);
    assert_eq!([changed(&one).await, changed(&other).await], [heard(&[]), heard(&[])]);

    change(&one, "acme").await;
    change(&one, "bolt").await;
    assert_eq!(changed(&one).await, heard(&["acme", "bolt"]));
    assert_eq!(changed(&one).await, heard(&[]));
    change(&other, "acme").await;
    assert_eq!(changed(&other).await, heard(&["acme", "acme", "bolt"]));
    assert_eq!(changed(&other).await, heard(&[]));
    assert_eq!(changed(&one).await, heard(&["acme"]));
    assert_eq!(changed(&third).await, None);
}

#[tokio::test]
async fn where_the_announcements_are_lost_any_tenant_may_have_changed() {
    let mut redis = Server::start(&["--appendonly", "no"]);
    let [one, other] = [open(&redis).await, open(&redis).await];
    change(&one, "acme").await;
    changed(&one).await;
    changed(&other).await;
    redis.cli(&["del", "swarm:changes"]);
    assert_eq!(changed(&other).await, None);
    assert_eq!(changed(&other).await, heard(&[]));

    // What could not be announced is announced when the server is back.
    change(&one, "bolt").await;
    redis.stop();
    one.changes().await.unwrap_err();
    redis.resume_with(&["--appendonly", "no"]);
    while one.changes().await.is_err() {}
    wait_until("it is announced", || {
        redis.cli(&["zrange", "swarm:changes", "0", "-1"]).contains("bolt")
    });
}

async fn open(redis: &Server) -> RedisStore {
    RedisStore::connect(&redis.url()).await.unwrap()
}

async fn change(store: &RedisStore, tenant: &str) {
    let tenant = TenantId::parse(tenant).unwrap();
    World::open(Arc::new(store.clone()), tenant).convened("aurora").await;
}

async fn changed(store: &RedisStore) -> Option<Vec<String>> {
    let tenants = store.changes().await.unwrap().tenants;
    tenants.map(|changed| changed.iter().map(|tenant| tenant.as_str().to_owned()).collect())
}

#[expect(clippy::unnecessary_wraps, reason = "as it is compared")]
fn heard(tenants: &[&str]) -> Option<Vec<String>> {
    Some(tenants.iter().map(|&tenant| tenant.to_owned()).collect())
}
