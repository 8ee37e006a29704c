//! What reads of a sealed session return.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::store::TABLES;
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresBackend;
use swarm_testing::sealed_reads_return_the_same_bytes;

#[tokio::test]
async fn reads_of_a_sealed_session_return_the_same_bytes() {
    let server = Server::start(&[]);
    let backend = PostgresBackend::create(&server.url(), TABLES).await.unwrap();
    sealed_reads_return_the_same_bytes(backend).await;
}
