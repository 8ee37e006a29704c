//! Reads records as they were when the snapshot was taken.

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::Result;
use swarm_core::store::backend::{Query, Reading, Snapshot};

use super::transaction::{Transaction, bounded};
use crate::answers::reading;
use crate::database::{Database, READ, values_of_read};
use crate::failure::Outcome;
use crate::program;

/// A transaction that reads one snapshot.
pub(crate) struct Snapshotted {
    transaction: Transaction,
    tenant: TenantId,
}

impl Snapshotted {
    pub(crate) async fn begin(database: &Database, tenant: &TenantId) -> Outcome<Self> {
        let transaction = Transaction::begin(database, "REPEATABLE READ READ ONLY").await?;
        let snapshot = Self { transaction, tenant: tenant.clone() };
        // The first statement takes the snapshot.
        snapshot.answers(&[]).await?;
        Ok(snapshot)
    }

    async fn answers(&self, queries: &[Query]) -> Outcome<Reading> {
        let program = program::of_queries(self.transaction.schema(), queries);
        let (args, db) = (values_of_read(&program), self.transaction.db(&self.tenant)?);
        reading(&bounded(db.rows(READ, &args)).await?, queries, self.transaction.schema().tables())
    }
}

#[async_trait]
impl Snapshot for Snapshotted {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        self.answers(&queries).await.map_err(|failure| failure.of("dump"))
    }
}
