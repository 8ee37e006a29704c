//! Replicas: never used as a primary, and left soon after a demotion.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;

use swarm_core::store::StoreError;
use swarm_redis_testing::{Proxy, Server, free_port};
use swarm_store_redis::RedisStore;

use crate::world::{ALL, committee, draft, joined, judged, open};

#[tokio::test(flavor = "multi_thread")]
async fn ready_replaces_the_connection_to_a_demoted_primary() {
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

/// A submission refused by stale facts would never reach the write that a replica rejects.
#[tokio::test(flavor = "multi_thread")]
async fn facts_are_not_read_from_a_replica() {
    let (old, new) = (Server::start(&[]), Server::start(&[]));
    let proxy = Proxy::in_front_of(old.port).await;
    let connect = || async { RedisStore::connect(&proxy.url("redis")).await.unwrap() };
    let (one, other) = (connect().await, connect().await);

    demote(&old);
    let direct = RedisStore::connect(&new.url()).await.unwrap();
    let author = joined(&open(&direct), "ada").await;
    let session = open(&direct).convene(&draft("subject")).await.unwrap();
    committee::convened(&committee::open(&direct), &["ada"]).await;
    proxy.forward_to(new.port);

    judged(&open(&one), &author, &session, "nonce").await;
    committee::judged(&committee::open(&other), "ada", "mark").await;
}

/// For example while a host name still resolves to the old server.
#[tokio::test(flavor = "multi_thread")]
async fn lost_connection_is_not_reopened_to_a_replica() {
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
async fn connect_refuses_a_replica() {
    let server = Server::start(&[]);
    demote(&server);
    for options in ["", "?wait=1", "?strict=true"] {
        assert_eq!(why(RedisStore::connect(&(server.url() + options)).await), REPLICA);
    }
}

/// A user may lack the right to run `ROLE`.
#[tokio::test]
async fn server_with_unreadable_role_is_accepted() {
    let server = Server::start(&[]);
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "+@all", "-role"];
    assert_eq!(server.cli(&user).trim(), "OK");
    demote(&server);
    let url = server.url().replace("://", "://swarm:secret@");
    let store = RedisStore::connect(&url).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
}

const REPLICA: &str = "the server is a replica - Client";

/// Makes it the replica of an unreachable server.
fn demote(server: &Server) {
    server.cli(&["replicaof", "127.0.0.1", &free_port().to_string()]);
}

/// The message of the error's source.
fn why<T>(result: Result<T, StoreError>) -> String {
    result.err().unwrap().source().unwrap().to_string()
}
