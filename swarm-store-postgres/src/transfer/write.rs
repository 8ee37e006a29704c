//! Writes the records of a load, in one transaction. They are staged, and put in place by the commit: until then, other commits of
//! their tenants are made without a wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::store::Result;
use swarm_core::store::backend::{Item, Load};
use swarm_core::{Entropy as _, SystemEntropy, TenantId, Timestamp};
use tokio_postgres::types::Type;

use super::transaction::Transaction;
use crate::commits::{LoadScript, encoded_load, write_of};
use crate::database::Database;
use crate::failure::{Failure, Outcome};
use crate::sql;

const OP: &str = "restore";

/// A load in progress.
pub(crate) struct Loading {
    transaction: Transaction,
    tenants: BTreeMap<TenantId, Staged>,
    /// What distinguishes it from other loads.
    id: [u8; 16],
}

/// What is staged of a tenant.
#[derive(Default)]
struct Staged {
    /// The function that puts each batch in place.
    batches: Vec<Arc<LoadScript>>,
    sequences: BTreeMap<&'static str, i64>,
    /// The end of the log: its number, that of the last entry, its time and its commit.
    head: Option<(i64, i64, Timestamp, [u8; 16])>,
}

impl Staged {
    /// Notes what an item says about sequences and the end of the log.
    fn note(&mut self, item: &Item) {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        match item {
            Item::Sequence(name, number) => drop(self.sequences.insert(name, signed(*number))),
            Item::Entry(log, entry) => {
                self.head = Some((signed(*log), signed(entry.seq.0), entry.at, entry.commit.0));
            }
            Item::Write(_) => {}
        }
    }
}

impl Loading {
    pub(crate) async fn begin(database: &Database) -> Outcome<Self> {
        let transaction = Transaction::begin_to_write(database).await?;
        let mut id = [0; 16];
        SystemEntropy.fill(&mut id).map_err(|error| Failure::unavailable(error.to_string()))?;
        Ok(Self { transaction, tenants: BTreeMap::new(), id })
    }

    async fn stage(&mut self, tenant: &TenantId, items: Vec<Item>) -> Outcome<()> {
        const STAGE: &str = "INSERT INTO swarm.staged (tenant, load, number, numbers, texts, bytes)
            VALUES ($1, $2, $3, $4, $5, $6)";
        let staged = self.tenants.entry(tenant.clone()).or_default();
        items.iter().for_each(|item| staged.note(item));
        let Database { schema, scripts, .. } = self.transaction.database();
        let writes = items.into_iter().filter_map(write_of);
        let (script, values) = encoded_load(writes, |kinds| scripts.load(kinds, schema));
        let number = i64::try_from(staged.batches.len()).unwrap_or(i64::MAX);
        staged.batches.push(script);
        let args = [
            (&tenant.as_str() as _, Type::TEXT),
            (&self.id.as_slice() as _, Type::BYTEA),
            (&number as _, Type::INT8),
            (&values.numbers as _, Type::INT8_ARRAY),
            (&values.texts as _, Type::TEXT_ARRAY),
            (&values.bytes as _, Type::BYTEA_ARRAY),
        ];
        self.transaction.rows(STAGE, &args).await.map(drop)
    }

    async fn end(mut self) -> Outcome<Option<TenantId>> {
        // In the order of the tenants, so that two loads do not block each other.
        for (tenant, staged) in std::mem::take(&mut self.tenants) {
            if !self.is_free(&tenant).await? {
                self.transaction.end("ROLLBACK").await?;
                return Ok(Some(tenant));
            }
            self.put_in_place(&tenant, staged).await?;
        }
        self.transaction.end("COMMIT").await?;
        Ok(None)
    }

    /// Locks a tenant; returns whether it has no records then.
    async fn is_free(&self, tenant: &TenantId) -> Outcome<bool> {
        const CREATE: &str =
            "INSERT INTO swarm.tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING";
        const LOCK: &str = "SELECT FROM swarm.tenants WHERE tenant = $1 FOR NO KEY UPDATE";
        let used = sql::is_used(self.transaction.database().schema.tables());
        let used = format!("SELECT FROM swarm.tenants t WHERE t.tenant = $1 AND ({used})");
        let args = [(&tenant.as_str() as _, Type::TEXT)];
        self.transaction.rows(CREATE, &args).await?;
        self.transaction.rows(LOCK, &args).await?;
        Ok(self.transaction.rows(&used, &args).await?.is_empty())
    }

    /// Puts the records of a tenant in place.
    async fn put_in_place(&mut self, tenant: &TenantId, staged: Staged) -> Outcome<()> {
        const SEQUENCES: &str = "INSERT INTO swarm.sequences (tenant, name, number)
            SELECT $1, name, number FROM unnest($2::text[], $3::bigint[]) AS kept (name, number)";
        const HEAD: &str =
            "UPDATE swarm.tenants SET log = $2, seq = $3, last_at = $4, last_commit = $5
            WHERE tenant = $1";
        const FINISH: &str = "UPDATE swarm.tenants SET commits = commits + 1 WHERE tenant = $1";
        let Staged { batches, sequences, head } = staged;
        let (id, of_tenant) = (self.id.as_slice(), tenant.as_str());
        for (number, batch) in (0_i64..).zip(batches) {
            self.transaction.make(&batch.script).await?;
            let load = format!(
                "WITH batch AS (DELETE FROM swarm.staged
                    WHERE tenant = $1 AND load = $2 AND number = $3 RETURNING *)
                SELECT {}(tenant, numbers, texts, bytes) FROM batch",
                batch.script.name
            );
            let args = [
                (&of_tenant as _, Type::TEXT),
                (&id as _, Type::BYTEA),
                (&number as _, Type::INT8),
            ];
            self.transaction.rows(&load, &args).await?;
        }
        let (names, numbers): (Vec<_>, Vec<_>) = sequences.into_iter().unzip();
        let args = [
            (&of_tenant as _, Type::TEXT),
            (&names as _, Type::TEXT_ARRAY),
            (&numbers as _, Type::INT8_ARRAY),
        ];
        self.transaction.rows(SEQUENCES, &args).await?;
        if let Some((log, seq, at, commit)) = head {
            let (at, commit) = (at.millis(), commit.as_slice());
            let args = [
                (&of_tenant as _, Type::TEXT),
                (&log as _, Type::INT8),
                (&seq as _, Type::INT8),
                (&at as _, Type::INT8),
                (&commit as _, Type::BYTEA),
            ];
            self.transaction.rows(HEAD, &args).await?;
        }
        self.transaction.rows(FINISH, &[(&of_tenant as _, Type::TEXT)]).await.map(drop)
    }
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        self.stage(tenant, items).await.map_err(|failure| failure.of(OP))
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        self.end().await.map_err(|failure| failure.of(OP))
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.transaction.end("ROLLBACK").await.map_err(|failure| failure.of(OP))
    }
}
