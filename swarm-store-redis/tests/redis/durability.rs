//! Server settings that may lose acknowledged records are refused or warned of, by `connect` and `ready`.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::error::Error as _;

use swarm_core::store::StoreError;
use swarm_redis_testing::{Cluster, Server};
use swarm_store_redis::RedisStore;

use crate::world::walk;

#[tokio::test]
async fn evicting_policy_is_refused_by_connect_and_ready() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert!(store.ready().await.unwrap().warnings.is_empty());
    server.cli(&["config", "set", "maxmemory-policy", "allkeys-lru"]);
    assert!(why(store.ready().await).contains("maxmemory-policy is allkeys-lru"));
    let refused = why(RedisStore::connect(&server.url()).await);
    assert!(refused.contains("maxmemory-policy is allkeys-lru"), "{refused}");
}

#[tokio::test]
async fn unsafe_settings_are_warned_of_or_refused_when_strict() {
    for (setting, safe, other) in [
        ("appendonly", "yes", "no"),
        ("appendfsync", "always", "no"),
        ("no-appendfsync-on-rewrite", "no", "yes"),
        ("aof-load-truncated", "no", "yes"),
    ] {
        let server = Server::start(&[]);
        let strict = format!("{}?strict=true", server.url());
        let (lax, strict) = (RedisStore::connect(&server.url()).await, &strict);
        let (lax, held) = (lax.unwrap(), RedisStore::connect(strict).await.unwrap());
        assert!(held.ready().await.unwrap().warnings.is_empty());

        server.cli(&["config", "set", setting, other]);
        let named = format!("{setting} is {other}, not {safe}");
        let warnings = lax.ready().await.unwrap().warnings;
        assert!(matches!(&warnings[..], [text] if text.contains(&named)), "{warnings:?}");
        for refused in [why(held.ready().await), why(RedisStore::connect(strict).await)] {
            assert!(refused.contains("strict") && refused.contains(&named), "{refused}");
        }
    }
}

/// A failover loses what a replica has not received.
#[tokio::test]
async fn strict_refuses_replicas_that_no_commit_waits_for() {
    let [primary, replica] = [(); 2].map(|()| Server::start(&[]));
    let connect = async |options| RedisStore::connect(&(primary.url() + options)).await;
    let alone = connect("?strict=true").await.unwrap();
    replica.replicate_from(primary.port);
    for refused in [why(alone.ready().await), why(connect("?strict=true").await)] {
        assert!(refused.contains("strict") && refused.contains("wait is 0"), "{refused}");
    }
    for allowed in ["", "?strict=true&wait=1"] {
        let readiness = connect(allowed).await.unwrap().ready().await.unwrap();
        assert_eq!(readiness.warnings, [""; 0], "{allowed}");
    }
}

/// A full server refuses writes.
#[tokio::test]
async fn high_memory_use_is_warned_of_and_full_memory_is_not_ready() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let used: u64 = {
        let info = server.cli(&["info", "memory"]);
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        used.unwrap().trim().parse().unwrap()
    };
    let limit = |percent: u64| {
        server.cli(&["config", "set", "maxmemory", &(used * 100 / percent).to_string()]);
    };
    limit(50);
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    limit(87);
    let warnings = store.ready().await.unwrap().warnings;
    assert!(matches!(&warnings[..], [one] if one.contains("% of its maxmemory")), "{warnings:?}");
    limit(120);
    assert!(why(store.ready().await).contains("less than 5 % of its maxmemory left"));
    let again = RedisStore::connect(&server.url()).await.unwrap();
    assert!(why(again.ready().await).contains("less than 5 % of its maxmemory left"));
    server.cli(&["config", "set", "maxmemory", "0"]);
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
}

/// A warning from 80 % on, not ready from 95 % on. One value takes most of the memory, so that the memory
/// of connections is negligible.
#[tokio::test]
async fn memory_limits_are_80_and_95_per_cent() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    server.cli(&["setrange", "filler", "100000000", "x"]);
    let used: u64 = {
        let info = server.cli(&["info", "memory"]);
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        used.unwrap().trim().parse().unwrap()
    };
    assert!(used > 100_000_000, "{used}");
    for (permille, warned, full) in
        [(790, false, false), (810, true, false), (940, true, false), (960, true, true)]
    {
        server.cli(&["config", "set", "maxmemory", &(used * 1_000 / permille).to_string()]);
        match store.ready().await {
            Ok(readiness) => assert_eq!((readiness.warnings.len() == 1, false), (warned, full)),
            refused => assert!(full && why(refused).contains("less than 5 %"), "{permille}"),
        }
    }
}

/// Managed services forbid `CONFIG`.
#[tokio::test]
async fn unreadable_settings_are_accepted_unless_strict() {
    let server = Server::start(&[]);
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "-@all"];
    let data = ["+@hash", "+@list", "+@sortedset", "+@stream", "+@string"];
    let rest = ["+eval", "+evalsha", "+time", "+ping"];
    assert_eq!(server.cli(&[&user[..], &data, &rest].concat()).trim(), "OK");
    let url = server.url().replace("://", "://swarm:secret@");
    let silent = RedisStore::connect(&url).await.unwrap();
    assert!(silent.ready().await.unwrap().warnings.is_empty());
    walk(&silent, || ()).await;
    let refused = why(RedisStore::connect(&format!("{url}?strict=true")).await);
    assert!(refused.contains("cannot be seen by CONFIG GET"), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
}

#[cfg(feature = "cluster")]
#[tokio::test]
async fn settings_of_every_cluster_node_are_checked() {
    let cluster = Cluster::start();
    let strict = format!("{}?strict=true", cluster.url());
    let store = RedisStore::connect(&strict).await.unwrap();
    assert!(store.ready().await.unwrap().warnings.is_empty());
    cluster.nodes[1].cli(&["config", "set", "appendfsync", "everysec"]);
    assert!(why(store.ready().await).contains("appendfsync is everysec"));
    cluster.nodes[1].cli(&["config", "set", "maxmemory-policy", "allkeys-lru"]);
    let refused = why(RedisStore::connect(&cluster.url()).await);
    assert!(refused.contains("maxmemory-policy is allkeys-lru"), "{refused}");
}

/// The message of the error's source.
fn why<T>(result: Result<T, StoreError>) -> String {
    result.err().unwrap().source().unwrap().to_string()
}
