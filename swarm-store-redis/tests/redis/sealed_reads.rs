//! What reads of a sealed session return, and what the server sends for them.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::store::TABLES;
use swarm_redis_testing::Server;
use swarm_store_redis::{RedisBackend, RedisStore};
use swarm_testing::{SealedDesk, sealed_reads_return_the_same_bytes};

#[tokio::test]
async fn reads_of_a_sealed_session_return_the_same_bytes() {
    let server = Server::start(&[]);
    let backend = RedisBackend::connect(&server.url(), TABLES).await.unwrap();
    sealed_reads_return_the_same_bytes(backend).await;
}

/// The length of what is sealed has a few digits more.
#[tokio::test]
async fn server_sends_nothing_that_is_sealed() {
    const DIGITS: u64 = 2_000;
    let server = Server::start(&[]);
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let mut sent = Vec::new();
    for (tenant, is_large) in [("small", false), ("large", true)] {
        let desk = SealedDesk::filed(store.clone(), tenant, is_large).await;
        let before = sent_by(&server);
        for name in SealedDesk::READS {
            desk.read(name).await;
        }
        sent.push(sent_by(&server) - before);
        desk.read_unsealed().await;
    }
    assert!(sent[0].abs_diff(sent[1]) < DIGITS, "{sent:?}");
}

/// The bytes that the server has sent to all clients.
fn sent_by(server: &Server) -> u64 {
    let info = server.cli(&["info", "stats"]);
    let sent = info.lines().find_map(|line| line.strip_prefix("total_net_output_bytes:"));
    sent.unwrap().trim().parse().unwrap()
}
