//! The conformance suites of both ports. The cases share a server; each has a schema of its own.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};

use swarm_core::{CommitteeTenants, Tenants, Timestamp};
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

/// The address of a schema.
struct Schema(String);

impl Schema {
    fn new() -> Self {
        Self(SERVER.url())
    }

    fn name(&self) -> &str {
        self.0.split_once("schema=").unwrap().1
    }

    async fn open(&self) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::create(&self.0).await.unwrap())
    }

    fn set_clock(&self, now: Timestamp) {
        SERVER.set_clock(&self.0, now.millis());
    }
}

mod interface_a {
    use super::*;

    async fn schema() -> (Schema, Arc<dyn Tenants>) {
        let schema = Schema::new();
        let store = schema.open().await;
        (schema, store)
    }

    async fn again(schema: &Schema) -> Arc<dyn Tenants> {
        schema.open().await
    }

    swarm_testing::conformance!(schema, again);

    async fn with_a_clock() -> (Schema, Arc<dyn Tenants>) {
        let (schema, store) = schema().await;
        schema.set_clock(Timestamp::EPOCH);
        (schema, store)
    }

    swarm_testing::clock_conformance!(with_a_clock, Schema::set_clock);

    /// Copies all tables to another schema.
    async fn back_up(schema: &Schema) {
        let schema = schema.name();
        let copies = TABLES
            .map(|table| format!("CREATE TABLE {schema}_copy.{table} AS TABLE {schema}.{table};"));
        SERVER.psql(&format!("CREATE SCHEMA {schema}_copy; {}", copies.concat()));
    }

    async fn restore(schema: &Schema) {
        let schema = schema.name();
        let copies = TABLES.map(|table| {
            format!(
                "DELETE FROM {schema}.{table};
                 INSERT INTO {schema}.{table} SELECT * FROM {schema}_copy.{table};"
            )
        });
        SERVER.psql(&format!("BEGIN; {} COMMIT", copies.concat()));
    }

    const TABLES: [&str; 15] = [
        "tenants",
        "sequences",
        "members",
        "challenges",
        "reusable_challenges",
        "messages",
        "sessions",
        "takes",
        "documents",
        "committee_members",
        "committee_days",
        "committee_briefs",
        "committee_takes",
        "log",
        "attempts",
    ];

    swarm_testing::continuity_conformance!(schema, back_up, restore, again);
}

async fn that_moves() -> (Schema, Arc<PostgresStore>) {
    let schema = Schema::new();
    let store = schema.open().await;
    (schema, store)
}

swarm_testing::transfer_conformance!(that_moves);

mod interface_b {
    use super::*;

    async fn schema() -> (Schema, Arc<dyn CommitteeTenants>) {
        let schema = Schema::new();
        let store = schema.open().await;
        (schema, store)
    }

    async fn again(schema: &Schema) -> Arc<dyn CommitteeTenants> {
        schema.open().await
    }

    swarm_testing::committee_conformance!(schema, again);

    async fn with_a_clock() -> (Schema, Arc<dyn CommitteeTenants>) {
        let (schema, store) = schema().await;
        schema.set_clock(Timestamp::EPOCH);
        (schema, store)
    }

    swarm_testing::committee_clock_conformance!(with_a_clock, Schema::set_clock);
}
