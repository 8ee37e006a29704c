//! What becomes of members that file while their server fails: each is told the truth or of an
//! error, and files on when the server is back.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod load;
mod world;

use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

use load::Load;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed() {
    endured(5, async |server, load| {
        server.stop();
        load.fails().await;
        server.resume();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_and_back_at_once() {
    endured(10, async |server, _| {
        server.stop();
        server.resume();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_forgets_the_scripts() {
    endured(20, async |server, _| drop(server.cli(&["script", "flush"]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_memory() {
    endured(5, async |server, load| {
        server.cli(&["config", "set", "maxmemory", "1"]);
        load.fails().await;
        server.cli(&["config", "set", "maxmemory", "0"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls() {
    endured(1, async |server, load| {
        server.signal("STOP");
        load.fails().await;
        server.signal("CONT");
    })
    .await;
}

/// Lets this happen to a server under load, so often, and sees that nothing is lost.
async fn endured(times: usize, happens: impl AsyncFn(&mut Server, &mut Load)) {
    let mut server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let mut load = Load::new(&store, "acme").await;
    load.begin();
    for _ in 0..times {
        load.goes_on().await;
        happens(&mut server, &mut load).await;
        load.goes_on().await;
    }
    load.end().await;
    assert_eq!(load.lost().await, [0, 0]);
}
