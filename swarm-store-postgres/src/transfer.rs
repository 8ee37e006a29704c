//! Snapshots, loads and removals, each in a transaction of its own: a snapshot is that of the transaction, and a load holds the locks
//! of its tenants. When the process is killed, the server rolls back.

use std::collections::BTreeMap;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::Result;
use swarm_core::store::backend::{Item, Load, Query, Reading, Snapshot};
use tokio_postgres::types::Type;

use crate::commits::{encoded_load, write_of};
use crate::database::Database;
use crate::failure::Outcome;
use crate::reads::reading;
use crate::sql;
use crate::transaction::Transaction;

/// A transaction that reads one snapshot.
pub(crate) struct Snapshotted {
    transaction: Transaction,
    tenant: TenantId,
}

impl Snapshotted {
    pub(crate) async fn begin(database: &Database, tenant: &TenantId) -> Outcome<Self> {
        let transaction = Transaction::begin_to_read(database).await?;
        let mut snapshot = Self { transaction, tenant: tenant.clone() };
        // The first statement takes the snapshot.
        snapshot.answers(&[]).await?;
        Ok(snapshot)
    }

    async fn answers(&mut self, queries: &[Query]) -> Outcome<Reading> {
        let database = self.transaction.database();
        let (script, members) = database.script_of(queries);
        let tables = database.schema.tables();
        let sql = script.execute(self.tenant.as_str(), &members);
        self.transaction.make(&script.script).await?;
        let rows = self.transaction.rows(&sql, &[]).await?;
        reading(&rows, queries, &members, tables)
    }
}

#[async_trait]
impl Snapshot for Snapshotted {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        self.answers(&queries).await.map_err(|failure| failure.of("dump"))
    }
}

/// A load in progress.
pub(crate) struct Loading {
    transaction: Transaction,
    /// The tenant whose records are written.
    last: Option<TenantId>,
    /// A tenant that has records of its own, after which nothing is written.
    occupied: Option<TenantId>,
}

impl Loading {
    pub(crate) async fn begin(database: &Database) -> Outcome<Self> {
        let transaction = Transaction::begin_to_write(database).await?;
        Ok(Self { transaction, last: None, occupied: None })
    }

    async fn put(&mut self, tenant: &TenantId, items: Vec<Item>) -> Outcome<()> {
        if self.occupied.is_some() {
            return Ok(());
        }
        let is_first = self.last.replace(tenant.clone()).as_ref() != Some(tenant);
        if is_first && !self.is_free(tenant).await? {
            self.occupied = Some(tenant.clone());
            return Ok(());
        }
        self.put_ends(tenant, &items).await?;
        let Database { schema, scripts, .. } = self.transaction.database();
        let writes = items.into_iter().filter_map(write_of);
        let (script, values) = encoded_load(writes, |kinds| scripts.load(kinds, schema));
        self.transaction.make(&script.script).await?;
        let load = format!("SELECT {}($1, $2, $3, $4)", script.script.name);
        let args = [
            (&tenant.as_str() as _, Type::TEXT),
            (&values.numbers as _, Type::INT8_ARRAY),
            (&values.texts as _, Type::TEXT_ARRAY),
            (&values.bytes as _, Type::BYTEA_ARRAY),
        ];
        self.transaction.rows(&load, &args).await.map(drop)
    }

    /// Locks a tenant, and announces it; returns whether it has no records then.
    async fn is_free(&self, tenant: &TenantId) -> Outcome<bool> {
        const LOCK: &str = "INSERT INTO swarm.tenants AS t (tenant, commits) VALUES ($1, 1)
            ON CONFLICT (tenant) DO UPDATE SET commits = t.commits + 1";
        let used = sql::is_used(self.transaction.database().schema.tables());
        let used = format!("SELECT FROM swarm.tenants t WHERE t.tenant = $1 AND ({used})");
        let args = [(&tenant.as_str() as _, Type::TEXT)];
        self.transaction.rows(LOCK, &args).await?;
        Ok(self.transaction.rows(&used, &args).await?.is_empty())
    }

    /// Writes what items say about sequences and the end of the log.
    async fn put_ends(&self, tenant: &TenantId, items: &[Item]) -> Outcome<()> {
        const SEQUENCES: &str = "INSERT INTO swarm.sequences (tenant, name, number)
            SELECT $1, name, number FROM unnest($2::text[], $3::bigint[]) AS kept (name, number)
            ON CONFLICT (tenant, name) DO UPDATE SET number = excluded.number";
        const HEAD: &str =
            "UPDATE swarm.tenants SET log = $2, seq = $3, last_at = $4, last_commit = $5
            WHERE tenant = $1";
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (mut sequences, mut head) = (BTreeMap::new(), None);
        for item in items {
            match item {
                Item::Sequence(name, number) => drop(sequences.insert(*name, signed(*number))),
                Item::Entry(log, entry) => head = Some((signed(*log), entry)),
                Item::Write(_) => {}
            }
        }
        let of_tenant = tenant.as_str();
        if !sequences.is_empty() {
            let (names, numbers): (Vec<_>, Vec<_>) = sequences.into_iter().unzip();
            let args = [
                (&of_tenant as _, Type::TEXT),
                (&names as _, Type::TEXT_ARRAY),
                (&numbers as _, Type::INT8_ARRAY),
            ];
            self.transaction.rows(SEQUENCES, &args).await?;
        }
        if let Some((log, entry)) = head {
            let (seq, at, commit) =
                (signed(entry.seq.0), entry.at.millis(), entry.commit.0.as_slice());
            let args = [
                (&of_tenant as _, Type::TEXT),
                (&log as _, Type::INT8),
                (&seq as _, Type::INT8),
                (&at as _, Type::INT8),
                (&commit as _, Type::BYTEA),
            ];
            self.transaction.rows(HEAD, &args).await?;
        }
        Ok(())
    }

    async fn end(self) -> Outcome<Option<TenantId>> {
        let how = if self.occupied.is_some() { "ROLLBACK" } else { "COMMIT" };
        self.transaction.end(how).await?;
        Ok(self.occupied)
    }
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        self.put(tenant, items).await.map_err(|failure| failure.of("restore"))
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        self.end().await.map_err(|failure| failure.of("restore"))
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.transaction.end("ROLLBACK").await.map_err(|failure| failure.of("restore"))
    }
}

/// Removes all that a tenant has, in one transaction. Its row among the tenants stays, with the number of its commits, which tells other
/// processes that it has changed.
pub(crate) async fn remove(database: &Database, tenant: &TenantId) -> Outcome<()> {
    const RESET: &str = "UPDATE swarm.tenants SET log = 1, seq = 0, last_at = NULL, last_commit = NULL, commits = commits + 1
        WHERE tenant = $1";
    let transaction = Transaction::begin_to_write(database).await?;
    let args = [(&tenant.as_str() as _, Type::TEXT)];
    // Locks the tenant, as commits do.
    transaction.rows(RESET, &args).await?;
    let declared = database.schema.tables().iter().map(|table| table.name);
    for name in ["log", "sequences", "attempts"].into_iter().chain(declared) {
        let delete = format!("DELETE FROM swarm.{name} WHERE tenant = $1");
        transaction.rows(&delete, &args).await?;
    }
    transaction.end("COMMIT").await
}
