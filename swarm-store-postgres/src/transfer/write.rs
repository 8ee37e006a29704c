//! Writes the records of a load, in one transaction.

use std::collections::BTreeSet;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::Result;
use swarm_core::store::backend::{Item, Load};

use super::transaction::{Transaction, bounded};
use crate::database::Database;
use crate::db::{Arg, Db};
use crate::failure::Outcome;
use crate::program;
use crate::schema::Schema;
use crate::sql;

const OP: &str = "restore";

/// A load in progress.
pub(crate) struct Loading {
    transaction: Transaction,
    /// The tenants that are locked.
    tenants: BTreeSet<TenantId>,
    occupied: Option<TenantId>,
}

impl Loading {
    pub(crate) async fn begin(database: &Database) -> Outcome<Self> {
        let transaction = Transaction::begin(database, "READ COMMITTED READ WRITE").await?;
        Ok(Self { transaction, tenants: BTreeSet::new(), occupied: None })
    }

    async fn insert(&mut self, tenant: &TenantId, items: &[Item]) -> Outcome<()> {
        const LOAD: &str = "SELECT swarm.load_2($1, $2::text::jsonb, $3, $4)";
        if self.occupied.is_some() {
            return Ok(());
        }
        let db = self.transaction.db(tenant)?;
        if !self.tenants.contains(tenant)
            && !bounded(is_free(db, self.transaction.schema())).await?
        {
            self.occupied = Some(tenant.clone());
            return Ok(());
        }
        self.tenants.insert(tenant.clone());
        let program = program::of_items(self.transaction.schema(), items);
        let args = [
            Arg::Text((&*program.json).into()),
            Arg::texts(&program.values),
            Arg::texts(&program.texts),
        ];
        bounded(db.rows(LOAD, &args)).await.map(drop)
    }

    async fn end(self) -> Outcome<Option<TenantId>> {
        const FINISH: &str = "UPDATE swarm.tenants SET commits = commits + 1 WHERE tenant = $1";
        if let Some(occupied) = self.occupied {
            self.transaction.end("ROLLBACK").await?;
            return Ok(Some(occupied));
        }
        for tenant in &self.tenants {
            bounded(self.transaction.db(tenant)?.rows(FINISH, &[])).await?;
        }
        self.transaction.end("COMMIT").await?;
        Ok(None)
    }
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        self.insert(tenant, &items).await.map_err(|failure| failure.of(OP))
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
