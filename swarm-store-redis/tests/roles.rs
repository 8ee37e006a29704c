//! A replica is never taken for its primary, nor read for long when it was one.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod world;

use std::error::Error as _;

use swarm_core::Tenants;
use swarm_core::store::StoreError;
use swarm_redis_testing::{Proxy, Server, free_port};
use swarm_store_redis::RedisStore;

use world::{ALL, committee, draft, joined, judged, open};

#[tokio::test(flavor = "multi_thread")]
async fn readiness_leaves_a_server_that_became_a_replica() {
    let (old, new) = (Server::start(&[]), Server::start(&[]));
    let proxy = Proxy::in_front_of(old.port).await;
    let store = RedisStore::connect(&proxy.url("redis")).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);

    demote(&old);
    let direct = open(&RedisStore::connect(&new.url()).await.unwrap());
    let session = direct.convene(&draft("subject")).await.unwrap();
    proxy.forward_to(new.port);
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), []);

    assert_eq!(why(store.ready().await), REPLICA);
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), [session]);
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
}

/// Whoever is refused by old facts would never reach a write, which a replica refuses.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_judged_by_what_a_replica_has() {
    let (old, new) = (Server::start(&[]), Server::start(&[]));
    let proxy = Proxy::in_front_of(old.port).await;
    let connect = || async { RedisStore::connect(&proxy.url("redis")).await.unwrap() };
    let (one, other) = (connect().await, connect().await);

    demote(&old);
    let direct = RedisStore::connect(&new.url()).await.unwrap();
    let author = joined(&*open(&direct), "ada").await;
    let session = open(&direct).convene(&draft("subject")).await.unwrap();
    committee::convened(&*committee::open(&direct), &["ada"]).await;
    proxy.forward_to(new.port);

    judged(&*open(&one), &author, &session, "nonce").await;
    committee::judged(&*committee::open(&other), "ada", "mark").await;
}

/// As when a name leads to the old server for a while after it has changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_lost_is_not_opened_to_a_replica() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    server.cli(&["client", "kill", "type", "normal"]);
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    demote(&server);
    server.cli(&["client", "kill", "type", "normal"]);
    assert_eq!(why(open(&store).now().await), REPLICA);
    assert_eq!(why(store.ready().await), REPLICA);
    server.cli(&["replicaof", "no", "one"]);
    open(&store).now().await.unwrap();
}

#[tokio::test]
async fn a_replica_is_refused_at_start() {
    let server = Server::start(&[]);
    demote(&server);
    for options in ["", "?wait=1", "?strict=true"] {
        assert_eq!(why(RedisStore::connect(&(server.url() + options)).await), REPLICA);
    }
}

/// A user may be forbidden to ask.
#[tokio::test]
async fn a_server_that_does_not_tell_its_role_is_trusted() {
    let server = Server::start(&[]);
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "+@all", "-role"];
    assert_eq!(server.cli(&user).trim(), "OK");
    demote(&server);
    let url = server.url().replace("://", "://swarm:secret@");
    let store = RedisStore::connect(&url).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
}

const REPLICA: &str = "the server is a replica - Client";

/// Makes it the replica of nobody, to which nothing comes any more.
fn demote(server: &Server) {
    server.cli(&["replicaof", "127.0.0.1", &free_port().to_string()]);
}

/// Why this is an error.
fn why<T>(result: Result<T, StoreError>) -> String {
    result.err().unwrap().source().unwrap().to_string()
}
