//! The conformance suites. The cases share a server; each has a schema of its own.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::LazyLock;

use swarm_core::{Store, Timestamp};
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

    async fn open(&self) -> Store {
        PostgresStore::create(&self.0).await.unwrap().into()
    }

    fn set_clock(&self, now: Timestamp) {
        SERVER.set_clock(&self.0, now.millis());
    }
}

async fn schema() -> (Schema, Store) {
    let schema = Schema::new();
    let store = schema.open().await;
    (schema, store)
}

async fn again(schema: &Schema) -> Store {
    schema.open().await
}

swarm_testing::conformance!(schema, again);

async fn with_a_clock() -> (Schema, Store) {
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
