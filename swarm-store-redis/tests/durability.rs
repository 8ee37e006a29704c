//! What servers may lose is refused, or warned of, at start and later.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod world;

use std::error::Error as _;

use swarm_core::Tenants;
use swarm_core::store::StoreError;
use swarm_redis_testing::{Cluster, Server};
use swarm_store_redis::RedisStore;

use world::walk;

#[tokio::test]
async fn a_server_that_would_forget_is_refused_at_start_and_later() {
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    assert!(store.ready().await.unwrap().warnings.is_empty());
    server.cli(&["config", "set", "maxmemory-policy", "allkeys-lru"]);
    assert!(why(store.ready().await).contains("maxmemory-policy is allkeys-lru"));
    let refused = why(RedisStore::connect(&server.url()).await);
    assert!(refused.contains("maxmemory-policy is allkeys-lru"), "{refused}");
}

#[tokio::test]
async fn a_server_that_may_lose_writes_is_warned_of_or_refused() {
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
async fn replicas_that_no_commit_waits_for_are_refused_where_nothing_may_be_lost() {
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

/// It would refuse writes soon.
#[tokio::test]
async fn a_server_that_fills_up_is_warned_of_and_one_that_is_full_is_not_ready() {
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

/// From 80 % on it is warned of, and from 95 % on it is not ready. So much of it is one value that
/// what connections take does not count.
#[tokio::test]
async fn the_bounds_of_memory_are_80_and_95_per_cent() {
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

/// A managed service forbids `CONFIG`.
#[tokio::test]
async fn a_server_that_does_not_tell_its_settings_is_trusted_unless_strict() {
    let server = Server::start(&[]);
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "-@all"];
    let data = ["+@hash", "+@list", "+@sortedset", "+@string"];
    let rest = ["+evalsha", "+script|load", "+time", "+ping"];
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
async fn every_server_of_a_cluster_is_looked_at() {
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

/// Why this is an error.
fn why<T>(result: Result<T, StoreError>) -> String {
    result.err().unwrap().source().unwrap().to_string()
}
