//! Dump and restore of tenants.

mod read;
mod write;

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock, RwLockWriteGuard};
use std::vec::IntoIter;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::{Dump, Restore, Restored, Result, Stored, Transfer};

use crate::log_rows::Row;
use crate::world::World;
use crate::{MemoryStore, lock_to_read, lock_to_write};

/// How many records a dump returns at once.
const BATCH: usize = 500;

#[async_trait]
impl Transfer for MemoryStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let worlds = lock_to_read(&self.worlds);
        let used = worlds.iter().filter(|(_, world)| !lock_to_read(world).is_empty());
        let mut ids: Vec<_> = used.map(|(id, _)| id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let world = self.world(tenant);
        let world = lock_to_read(&world);
        let (records, rows) = (read::records(&world), world.log.rows.clone());
        Ok(Box::new(Records { records: records.into_iter(), rows: rows.into_iter() }))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        Ok(Box::new(Restoration { store: self.clone(), worlds: BTreeMap::new() }))
    }
}

/// The records that a dump has not returned yet; most are shared with the store.
struct Records {
    records: IntoIter<Stored>,
    /// The rows of the log, which come after the others.
    rows: IntoIter<Row>,
}

#[async_trait]
impl Dump for Records {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        let mut batch: Vec<_> = self.records.by_ref().take(BATCH).collect();
        for row in self.rows.by_ref().take(BATCH - batch.len()) {
            batch.push(Stored::Log(row.read()?));
        }
        Ok(batch)
    }
}

/// Tenants that are restored. They replace those of the store at the commit.
struct Restoration {
    store: MemoryStore,
    worlds: BTreeMap<TenantId, World>,
}

#[async_trait]
impl Restore for Restoration {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let world = self.worlds.entry(tenant.clone()).or_default();
        records.into_iter().for_each(|record| write::record(world, record));
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        let Self { store, worlds } = *self;
        let opened: Vec<_> = worlds.keys().map(|id| store.world(id)).collect();
        // In the order of the ids, so that two restores do not block each other.
        let mut current: Vec<_> = opened.iter().map(lock).collect();
        for (id, world) in worlds.keys().zip(&current) {
            if !world.is_empty() {
                return Ok(Restored::Occupied(id.clone()));
            }
        }
        for ((id, restored), world) in worlds.into_iter().zip(&mut current) {
            let seen = store.seen.of(&id);
            let _changing = seen.changing();
            world.replace_records(restored);
            seen.advance(world.log.position());
        }
        Ok(Restored::Complete)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn lock(world: &Arc<RwLock<World>>) -> RwLockWriteGuard<'_, World> {
    lock_to_write(world)
}
