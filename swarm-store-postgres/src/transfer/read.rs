//! Reads records as they were when the snapshot was taken.

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::Result;
use swarm_core::store::backend::{Query, Reading, Snapshot};

use super::transaction::Transaction;
use crate::database::Database;
use crate::failure::Outcome;
use crate::reads::reading;

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
