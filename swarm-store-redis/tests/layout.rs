//! What another release has written is brought up to this one's layout, or refused.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod world;

use std::error::Error as _;

use swarm_core::Tenants;
use swarm_core::store::{Result, StoreErrorKind};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

use world::{ALL, Author, draft, open};

const MARK: &str = "swarm:{acme}:layout";
const NEWEST: &str = "swarm:layout";

#[tokio::test]
async fn a_tenant_is_marked_with_its_first_write_and_not_before() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), []);
    assert_eq!(server.cli(&["dbsize"]).trim(), "0");
    open(&store).convene(&draft("subject")).await.unwrap();
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "1\n1\n");
}

#[tokio::test]
async fn a_tenant_without_a_mark_is_read_as_it_is_and_marked_when_it_is_written_to() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let session = open(&store).convene(&draft("subject")).await.unwrap();
    server.cli(&["del", MARK, NEWEST]);

    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    assert_eq!(store.sessions(&ALL).await.unwrap(), [session]);
    assert_eq!(server.cli(&["exists", MARK, NEWEST]).trim(), "0");
    Author::joined(&*store, "ada").await;
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "1\n1\n");
}

#[tokio::test]
async fn a_newer_layout_is_refused_at_start_and_by_readiness() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    store.ready().await.unwrap();
    server.cli(&["set", NEWEST, "2"]);
    is_newer(store.ready().await);
    is_newer(RedisStore::connect(&server.url()).await.map(|_| ()));
}

#[tokio::test]
async fn a_tenant_of_a_newer_layout_is_neither_read_nor_written() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    server.cli(&["set", MARK, "2"]);
    is_newer(store.sessions(&ALL).await);
    is_newer(store.convene(&draft("subject")).await);
    assert_eq!(server.cli(&["keys", "*"]).trim(), MARK);
    server.cli(&["set", MARK, "first"]);
    let error = store.now().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

fn is_newer<T: std::fmt::Debug>(outcome: Result<T>) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    let why = error.source().unwrap().to_string();
    assert!(why.contains("have layout 2") && why.contains("up to 1"), "{why}");
}
