//! Filing while the server fails. Each call returns the right outcome or an error, and calls succeed again
//! when the server is back.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

use crate::load::Load;

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_loses_no_acknowledged_take() {
    assert_no_loss(5, async |server, load| {
        server.stop();
        load.fails().await;
        server.resume();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restarted_server_loses_no_acknowledged_take() {
    assert_no_loss(10, async |server, _| {
        server.stop();
        server.resume();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn flushed_scripts_lose_no_acknowledged_take() {
    assert_no_loss(20, async |server, _| drop(server.cli(&["script", "flush"]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_memory_loses_no_acknowledged_take() {
    assert_no_loss(5, async |server, load| {
        server.cli(&["config", "set", "maxmemory", "1"]);
        load.fails().await;
        server.cli(&["config", "set", "maxmemory", "0"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_server_loses_no_acknowledged_take() {
    assert_no_loss(1, async |server, load| {
        server.signal("STOP");
        load.fails().await;
        server.signal("CONT");
    })
    .await;
}

/// Injects a fault into a server under load `times` times, and checks that nothing acknowledged is lost.
async fn assert_no_loss(times: usize, fault: impl AsyncFn(&mut Server, &mut Load)) {
    let mut server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let mut load = Load::new(&store, "acme").await;
    load.begin();
    for _ in 0..times {
        load.goes_on().await;
        fault(&mut server, &mut load).await;
        load.goes_on().await;
    }
    load.end().await;
    assert_eq!(load.lost().await, [0, 0]);
}
