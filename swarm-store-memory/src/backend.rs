//! The backend: the tables of all tenants, each behind a lock of its own.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;
use swarm_core::store::backend::engine;
use swarm_core::store::backend::{
    Backend, CommitOutcome, Item, Load, Operation, Query, Reading, Snapshot, Transaction,
};
use swarm_core::store::{Changes, Readiness, Result};
use swarm_core::{TenantId, Timestamp};

use crate::tables::TenantTables;

/// The [port of backends](swarm_core::store::backend) in memory, for any tables. Clones share the records.
#[derive(Clone)]
pub struct MemoryBackend {
    tenants: Arc<RwLock<TablesByTenant>>,
    clock: TimeSource,
}

impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend").finish_non_exhaustive()
    }
}

/// The tables of each tenant, behind their lock.
type TablesByTenant = HashMap<TenantId, Arc<RwLock<TenantTables>>>;

type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

impl MemoryBackend {
    /// An empty backend with this clock, which is read while the tenant of a commit is locked.
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { tenants: Arc::default(), clock: Arc::new(clock) }
    }

    /// Another backend with a copy of the current records. For tests and simulations.
    #[must_use]
    pub fn copy(&self) -> Self {
        let tenants = lock_to_read(&self.tenants);
        let copied = |(id, tenant): (&TenantId, &Arc<RwLock<TenantTables>>)| {
            (id.clone(), Arc::new(RwLock::new(lock_to_read(tenant).clone())))
        };
        let tenants = Arc::new(RwLock::new(tenants.iter().map(copied).collect()));
        Self { tenants, clock: Arc::clone(&self.clock) }
    }

    /// Replaces the records by those of a copy. For tests and simulations.
    pub fn restore(&self, copy: &Self) {
        let copy = lock_to_read(&copy.tenants);
        for (id, tenant) in lock_to_read(&self.tenants).iter() {
            let restored = copy.get(id).map(|tenant| lock_to_read(tenant).clone());
            *lock_to_write(tenant) = restored.unwrap_or_default();
        }
    }

    fn tenant(&self, tenant: &TenantId) -> Arc<RwLock<TenantTables>> {
        if let Some(tenant) = lock_to_read(&self.tenants).get(tenant) {
            return Arc::clone(tenant);
        }
        Arc::clone(lock_to_write(&self.tenants).entry(tenant.clone()).or_default())
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    async fn read(&self, tenant: &TenantId, _: Operation, queries: Vec<Query>) -> Result<Reading> {
        let (clock, tenant) = ((self.clock)(), self.tenant(tenant));
        let tenant = lock_to_read(&tenant);
        engine::read(&*tenant, clock, &queries)
    }

    /// The clock is read under the lock, so that a commit that waited for the lock does not get an earlier time.
    async fn commit(
        &self,
        tenant: &TenantId,
        _: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let tenant = self.tenant(tenant);
        let mut tenant = lock_to_write(&tenant);
        engine::commit(&mut *tenant, || (self.clock)(), &transaction)
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        let at = (self.clock)();
        let tables = lock_to_read(&self.tenant(tenant)).clone();
        Ok(Box::new(Copied { tables, at }))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        Ok(Box::new(Loading { backend: self.clone(), tenants: BTreeMap::new() }))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let tenants = lock_to_read(&self.tenants);
        let used = tenants.iter().filter(|(_, tenant)| !lock_to_read(tenant).is_empty());
        let mut ids: Vec<_> = used.map(|(id, _)| id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        *lock_to_write(&self.tenant(tenant)) = TenantTables::default();
        Ok(())
    }

    /// There are no other processes.
    async fn changes(&self) -> Result<Changes> {
        Ok(Changes { now: (self.clock)(), tenants: Some(Vec::new()) })
    }

    async fn ready(&self) -> Result<Readiness> {
        Ok(Readiness::default())
    }
}

/// The tables of a tenant as they were.
struct Copied {
    tables: TenantTables,
    at: Timestamp,
}

#[async_trait]
impl Snapshot for Copied {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        engine::read(&self.tables, self.at, &queries)
    }
}

/// Tenants that are loaded. They replace those of the backend at the commit.
struct Loading {
    backend: MemoryBackend,
    tenants: BTreeMap<TenantId, TenantTables>,
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        let tables = self.tenants.entry(tenant.clone()).or_default();
        items.into_iter().try_for_each(|item| engine::load(tables, item))
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        let Self { backend, tenants } = *self;
        let opened: Vec<_> = tenants.keys().map(|id| backend.tenant(id)).collect();
        // In the order of the ids, so that two loads do not block each other.
        let mut current: Vec<_> = opened.iter().map(|tenant| lock_to_write(tenant)).collect();
        for (id, tenant) in tenants.keys().zip(&current) {
            if !tenant.is_empty() {
                return Ok(Some(id.clone()));
            }
        }
        for (loaded, tenant) in tenants.into_values().zip(&mut current) {
            tenant.extend(loaded);
        }
        Ok(None)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

// The engine checks everything before it writes anything, and these tables fail no write, so the records are
// consistent even after a writer panicked.

fn lock_to_read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn lock_to_write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
