//! Dump and restore of tenants. Each has a thread and a connection of its own: a dump reads in one
//! snapshot, and a restore writes in one transaction, which holds the write lock of the file until it
//! ends. A process that is killed meanwhile leaves the file as it was.

mod read;
mod rows;
mod write;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::{Dump, Restore, Result, Transfer};

use crate::SqliteStore;

#[async_trait]
impl Transfer for SqliteStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let found = self.database.read(rows::tenants).await;
        found.map_err(|failure| failure.of("tenants"))
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let (path, clock) = (self.database.path(), self.database.clock());
        let dump = read::begin(path, tenant.clone(), clock).await;
        Ok(Box::new(dump.map_err(|failure| failure.of("dump"))?))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        let (path, clock) = (self.database.path(), self.database.clock());
        let restore = write::begin(path, clock, self.seen.clone()).await;
        Ok(Box::new(restore.map_err(|failure| failure.of("restore"))?))
    }
}
