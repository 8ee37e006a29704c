//! Dump and restore of tenants, each in a transaction of its own: a dump reads one snapshot, and a restore holds
//! the locks of its tenants. When the process is killed, the server rolls back.

mod read;
mod transaction;
mod write;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::{Dump, Restore, Result, Transfer};

use crate::PostgresStore;
use crate::failure::Outcome;
use transaction::IS_USED;

#[async_trait]
impl Transfer for PostgresStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let sql = format!("SELECT tenant FROM swarm.tenants t WHERE {IS_USED} ORDER BY tenant");
        let rows = self.pool.rows(&self.schema.qualify(&sql)).await;
        let ids = rows.and_then(|rows| {
            let id = |row: &tokio_postgres::Row| Ok(TenantId::parse(row.try_get::<_, &str>(0)?)?);
            rows.iter().map(id).collect::<Outcome<_>>()
        });
        ids.map_err(|failure| failure.of("tenants"))
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let records = read::Records::begin(self, tenant).await;
        Ok(Box::new(records.map_err(|failure| failure.of("dump"))?))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        let restoration = write::Restoration::begin(self).await;
        Ok(Box::new(restoration.map_err(|failure| failure.of("restore"))?))
    }
}
