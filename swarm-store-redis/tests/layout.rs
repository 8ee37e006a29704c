//! What another release has written is brought up to this one's layout, or refused.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod world;

use std::error::Error as _;

use swarm_core::Tenants;
use swarm_core::domain::Seq;
use swarm_core::store::{Filed, Result, StoreErrorKind};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

use world::{ALL, draft, joined, judged, open};

const MARK: &str = "swarm:{acme}:layout";
const NEWEST: &str = "swarm:layout";
const LOG: &str = "swarm:{acme}:log";

#[tokio::test]
async fn a_tenant_is_marked_with_its_first_write_and_not_before() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), []);
    assert_eq!(server.cli(&["dbsize"]).trim(), "0");
    open(&store).convene(&draft("subject")).await.unwrap();
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "2\n2\n");
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
    joined(&*store, "ada").await;
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "2\n2\n");
}

/// Layout 2: the last row of the log says its time, whatever it is a row of.
#[tokio::test]
async fn the_log_of_layout_1_learns_when_it_ends() {
    let server = Server::start(&[]);
    let connect = async || RedisStore::connect(&server.url()).await.unwrap();
    let ada = joined(&*open(&connect().await), "ada").await;
    let session = open(&connect().await).convene(&draft("subject")).await.unwrap();
    let filing = judged(&*open(&connect().await), &ada, &session, "nonce").await;
    assert!(matches!(open(&connect().await).file(&filing).await.unwrap(), Filed::Filed(_)));
    let written = server.cli(&["lindex", LOG, "-1"]);
    server.cli(&["lset", LOG, "-1", "t 1"]);
    server.cli(&["mset", MARK, "1", NEWEST, "1"]);
    let rows = open(&connect().await).log(Seq(0), 9).await.unwrap();
    assert_eq!(server.cli(&["lindex", LOG, "-1"]), written);
    assert_eq!(server.cli(&["mget", MARK, NEWEST]), "2\n2\n");
    assert_eq!(rows.last().unwrap().at.millis().to_string(), written[4..].trim());
}

#[tokio::test]
async fn a_newer_layout_is_refused_at_start_and_by_readiness() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    store.ready().await.unwrap();
    server.cli(&["set", NEWEST, "3"]);
    is_newer(store.ready().await);
    is_newer(RedisStore::connect(&server.url()).await.map(|_| ()));
}

#[tokio::test]
async fn a_tenant_of_a_newer_layout_is_neither_read_nor_written() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    server.cli(&["set", MARK, "3"]);
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
    assert!(why.contains("have layout 3") && why.contains("up to 2"), "{why}");
}
