//! The mark of the layout, and the refusal of records of another layout.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;
use std::fmt::Debug;

use swarm_core::store::{Result, StoreErrorKind, other_layout};
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;

use crate::world::{ALL, draft, open};

const MARK: &str = "swarm:{acme}:layout";
const SERVER_MARK: &str = "swarm:layout";

/// The marks of other layouts, one of a newer and one of an older program, and how a refusal names them.
const OTHERS: [(&str, &str); 2] = [("v6", "6"), ("v4", "4")];

#[tokio::test]
async fn tenant_is_marked_by_its_first_write() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert_eq!(open(&store).sessions(&ALL).await.unwrap(), []);
    assert_eq!(server.cli(&["dbsize"]).trim(), "0");
    let session = open(&store).convene(&draft("subject")).await.unwrap();
    assert_eq!(server.cli(&["mget", MARK, SERVER_MARK]), "v5\nv5\n");

    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    assert_eq!(store.sessions(&ALL).await.unwrap(), [session]);
    store.convene(&draft("subject")).await.unwrap();
    assert_eq!(server.cli(&["mget", MARK, SERVER_MARK]), "v5\nv5\n");
}

#[tokio::test]
async fn server_of_another_layout_is_refused_by_connect_and_ready() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    store.ready().await.unwrap();
    for (mark, named) in OTHERS {
        server.cli(&["set", SERVER_MARK, mark]);
        is_refused(store.ready().await, named);
        is_refused(RedisStore::connect(&server.url()).await.map(|_| ()), named);
        is_refused(open(&store).convene(&draft("subject")).await, named);
        assert_eq!(server.cli(&["keys", "*"]).trim(), SERVER_MARK);
    }
}

#[tokio::test]
async fn tenant_of_another_layout_is_neither_read_nor_written() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    for (mark, named) in OTHERS {
        server.cli(&["set", MARK, mark]);
        is_refused(store.sessions(&ALL).await, named);
        is_refused(store.convene(&draft("subject")).await, named);
        assert_eq!(server.cli(&["keys", "*"]).trim(), MARK);
        assert_eq!(server.cli(&["get", MARK]).trim(), mark);
    }
    for mark in ["first", "5"] {
        server.cli(&["set", MARK, mark]);
        let error = store.now().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    }
}

fn is_refused<T: Debug>(outcome: Result<T>, layout: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert_eq!(error.source().unwrap().to_string(), other_layout(layout, 5));
}
