//! The conformance suite of the port of backends. The cases share a server; each has a schema of its own.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};

use swarm_core::Timestamp;
use swarm_core::store::backend::Backend;
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresBackend;
use swarm_testing::backend::TABLES;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

async fn open(url: &str) -> Arc<dyn Backend> {
    Arc::new(PostgresBackend::create(url, TABLES).await.unwrap())
}

/// The address of a schema.
struct Schema(String);

async fn backend() -> (Schema, Arc<dyn Backend>) {
    let schema = Schema(SERVER.url());
    let backend = open(&schema.0).await;
    (schema, backend)
}

swarm_testing::backend_conformance!(backend);

async fn again(schema: &Schema) -> Arc<dyn Backend> {
    open(&schema.0).await
}

swarm_testing::backend_conformance!(durability backend, again);

async fn with_a_clock() -> (Schema, Arc<dyn Backend>) {
    let (schema, backend) = backend().await;
    set_clock(&schema, Timestamp::EPOCH);
    (schema, backend)
}

fn set_clock(schema: &Schema, now: Timestamp) {
    SERVER.set_clock(&schema.0, now.millis());
}

swarm_testing::backend_conformance!(clock with_a_clock, set_clock);

async fn processes() -> ((), Vec<Arc<dyn Backend>>) {
    let url = SERVER.url();
    let mut processes = Vec::new();
    for _ in 0..3 {
        processes.push(open(&url).await);
    }
    ((), processes)
}

swarm_testing::backend_conformance!(feed processes);
