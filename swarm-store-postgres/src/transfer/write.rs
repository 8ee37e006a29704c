//! Writes the records of a load, in one transaction. They are staged, and put in place by the commit: until then, other commits of
//! their tenants are made without a wait.

use std::collections::BTreeMap;

use async_trait::async_trait;
use swarm_core::proof::hex;
use swarm_core::store::Result;
use swarm_core::store::backend::{Item, Load};
use swarm_core::{Entropy as _, SystemEntropy, TenantId};

use super::transaction::{Transaction, bounded};
use crate::database::Database;
use crate::db::{Arg, Db};
use crate::failure::{Failure, Outcome};
use crate::program;
use crate::schema::Schema;
use crate::sql;

const OP: &str = "restore";

/// A load in progress.
pub(crate) struct Loading {
    transaction: Transaction,
    /// The number of the batches of each tenant.
    tenants: BTreeMap<TenantId, i64>,
    /// What distinguishes it from other loads.
    id: String,
}

impl Loading {
    pub(crate) async fn begin(database: &Database) -> Outcome<Self> {
        let transaction = Transaction::begin(database, "READ COMMITTED READ WRITE").await?;
        let mut id = [0; 16];
        SystemEntropy.fill(&mut id).map_err(|error| Failure::unavailable(error.to_string()))?;
        Ok(Self { transaction, tenants: BTreeMap::new(), id: hex(&id) })
    }

    async fn stage(&mut self, tenant: &TenantId, items: &[Item]) -> Outcome<()> {
        const STAGE: &str = "INSERT INTO swarm.staged (tenant, load, number, items, vals, texts)
            VALUES ($1, decode($2, 'hex'), $3, $4::text::jsonb, $5, $6)";
        let number = self.tenants.entry(tenant.clone()).or_default();
        *number += 1;
        let program = program::of_items(self.transaction.schema(), items);
        let args = [
            Arg::Text((&*self.id).into()),
            Arg::Number(*number),
            Arg::Text((&*program.json).into()),
            Arg::texts(&program.values),
            Arg::texts(&program.texts),
        ];
        bounded(self.transaction.db(tenant)?.rows(STAGE, &args)).await.map(drop)
    }

    async fn end(self) -> Outcome<Option<TenantId>> {
        // In the order of the tenants, so that two loads do not block each other.
        for (tenant, batches) in &self.tenants {
            let db = self.transaction.db(tenant)?;
            if !bounded(is_free(db, self.transaction.schema())).await? {
                let occupied = tenant.clone();
                self.transaction.end("ROLLBACK").await?;
                return Ok(Some(occupied));
            }
            self.put_in_place(db, *batches).await?;
        }
        self.transaction.end("COMMIT").await?;
        Ok(None)
    }

    /// Puts the records of a tenant in place.
    async fn put_in_place(&self, db: Db<'_>, batches: i64) -> Outcome<()> {
        const LOAD: &str = "WITH batch AS (DELETE FROM swarm.staged
                WHERE tenant = $1 AND load = decode($2, 'hex') AND number = $3 RETURNING *)
            SELECT swarm.load_2(tenant, items, vals, texts) FROM batch";
        const FINISH: &str = "UPDATE swarm.tenants SET commits = commits + 1 WHERE tenant = $1";
        for number in 1..=batches {
            let args = [Arg::Text((&*self.id).into()), Arg::Number(number)];
            bounded(db.rows(LOAD, &args)).await?;
        }
        bounded(db.rows(FINISH, &[])).await.map(drop)
    }
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        self.stage(tenant, &items).await.map_err(|failure| failure.of(OP))
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        self.end().await.map_err(|failure| failure.of(OP))
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.transaction.end("ROLLBACK").await.map_err(|failure| failure.of(OP))
    }
}

/// Locks a tenant; returns whether it has no records then.
async fn is_free(db: Db<'_>, schema: &Schema) -> Outcome<bool> {
    const CREATE: &str = "INSERT INTO swarm.tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING";
    const LOCK: &str = "SELECT FROM swarm.tenants WHERE tenant = $1 FOR NO KEY UPDATE";
    db.rows(CREATE, &[]).await?;
    db.rows(LOCK, &[]).await?;
    let used = sql::is_used(schema.tables());
    let used = format!("SELECT FROM swarm.tenants t WHERE t.tenant = $1 AND ({used})");
    Ok(db.rows(&used, &[]).await?.is_empty())
}
