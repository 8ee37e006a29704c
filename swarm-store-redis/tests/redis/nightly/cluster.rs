//! Calls while cluster nodes, and connections to them, fail.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]
#![cfg(feature = "cluster")]

use swarm_core::store::{Collection, CommitteeFiled, Filed, Put};
use swarm_core::{SessionId, TenantId};
use swarm_redis_testing::{Cluster, Proxy, Server};
use swarm_store_redis::RedisStore;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::world::{
    ALL, BOUND, committee, draft, joined, judged, nonces, open, put, recovered, walk,
};

#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_sent_again_after_a_flush_on_a_cluster() {
    let cluster = Cluster::start();
    let store = RedisStore::connect(&cluster.url()).await.unwrap();
    let forget = || cluster.nodes.iter().for_each(|node| drop(node.cli(&["script", "flush"])));
    walk(&store, forget).await;
}

/// Also one that has the announcements, and also by scripts that its own node has not run yet.
#[tokio::test(flavor = "multi_thread")]
async fn tenant_is_served_while_another_node_does_not_answer() {
    let cluster = Cluster::start();
    let node_of = |key: &str| {
        let slot = cluster.nodes[0].cli(&["cluster", "keyslot", key]);
        let holds = |node: &Server| node.cli(&["cluster", "countkeysinslot", slot.trim()]) != "0\n";
        cluster.nodes.iter().position(holds).unwrap()
    };
    let store = RedisStore::connect(&cluster.url()).await.unwrap();
    let store = store.open(&TenantId::parse("plain").unwrap());
    let first = store.convene(&draft("subject")).await.unwrap();
    let (own, other) = (node_of("{plain}"), node_of("swarm:changes"));
    assert_ne!(own, other);
    cluster.nodes[other].signal("STOP");
    cluster.nodes[own].cli(&["script", "flush"]);
    assert_eq!(store.sessions(&ALL).await.unwrap(), [first]);
    store.convene(&draft("other")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_succeed_after_cluster_nodes_restart() {
    let mut cluster = Cluster::start();
    let store = open(&RedisStore::connect(&cluster.url()).await.unwrap());
    let author = joined(&store, "ada").await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let filing = judged(&store, &author, &session, "nonce").await;
    cluster.nodes.iter_mut().for_each(Server::stop);
    assert!(timeout(BOUND, store.now()).await.unwrap().is_err());
    assert!(timeout(BOUND, store.file(&filing)).await.unwrap().is_err());
    cluster.nodes.iter_mut().for_each(Server::resume);
    recovered(&store).await;
    assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    assert_eq!(nonces(&store, &session).await, ["nonce"]);
}

/// The connections end with the runtime in which they were opened.
#[test]
fn store_that_was_opened_in_a_runtime_that_ended_connects_again() {
    let (cluster, server) = (Cluster::start(), Server::start(&[]));
    for url in [cluster.url(), server.url()] {
        let first = Runtime::new().unwrap();
        let store = first.block_on(RedisStore::connect(&url)).unwrap();
        drop(first);
        Runtime::new().unwrap().block_on(walk(&store, || ()));
    }
}

/// The cluster client retries on its own, and more than once.
#[tokio::test(flavor = "multi_thread")]
async fn retried_commits_take_effect_once_on_a_cluster() {
    let mut cluster = Cluster::start();
    let mut proxies = Vec::new();
    for node in &mut cluster.nodes {
        let proxy = Proxy::in_front_of(node.port).await;
        node.stop();
        node.resume_with(&["--cluster-announce-port", &proxy.port().to_string()]);
        proxies.push(proxy);
    }
    cluster.wait_until_it_is_whole();
    for node in &cluster.nodes {
        node.wait_until_it_leads_to(&proxies.iter().map(Proxy::port).collect::<Vec<_>>());
    }
    let through = RedisStore::connect(&proxies[0].url("redis-cluster")).await.unwrap();
    let direct = open(&through);
    walk(&through, || ()).await;
    let through = RedisStore::connect(&proxies[0].url("redis-cluster")).await.unwrap();
    let (lossy, room) = (open(&through), committee::open(&through));
    let session = direct.convene(&draft("other")).await.unwrap();

    for number in 0..20 {
        let nonce = format!("nonce {number}");
        let author = joined(&direct, &format!("member {number}")).await;
        let filing = judged(&direct, &author, &session, &nonce).await;
        let drop_next = |calls, answers| {
            proxies.iter().for_each(|proxy| proxy.drop_next(calls, answers));
        };
        let (calls, answers) = [(0, 1), (1, 0), (1, 1), (0, 2)][number % 4];
        drop_next(calls, answers);
        let filed = timeout(BOUND, lossy.file(&filing)).await.unwrap();
        drop_next(0, 0);
        assert!(matches!(filed, Ok(Filed::Filed(..)) | Err(_)), "{filed:?}");
        recovered(&lossy).await;
        assert!(matches!(lossy.file(&filing).await.unwrap(), Filed::Filed(..)));

        drop_next(0, 1);
        let outcome = timeout(BOUND, put(&lossy, None)).await.unwrap();
        drop_next(0, 0);
        assert!(matches!(outcome, Ok(Put::Created(_))), "{outcome:?}");
        recovered(&direct).await;

        let filing = committee::judged(&room, "ada", &nonce).await;
        drop_next(calls, answers);
        let filed = timeout(BOUND, room.file_committee(&filing)).await.unwrap();
        drop_next(0, 0);
        assert!(matches!(filed, Ok(CommitteeFiled::Filed(_)) | Err(_)), "{filed:?}");
        recovered(&room).await;
        let again = room.file_committee(&filing).await.unwrap();
        assert!(matches!(again, CommitteeFiled::Filed(_)));
    }
    assert_eq!(committee::marks(&room).await.len(), 21);
    assert_eq!(nonces(&direct, &session).await.len(), 20);
    assert_eq!(direct.documents(Collection::Memos, None).await.unwrap().len(), 21);
    assert_eq!(direct.convene(&draft("last")).await.unwrap().id, SessionId(3));
}
