//! Swarm in memory: the storage port of `swarm-core` on plain maps.
//!
//! For tests, demonstrations, and services whose data may be lost: nothing outlives the process.
//! Each tenant has its own locks; reads do not block each other.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod committee;
mod counts;
mod documents;
mod log;
mod log_rows;
mod members;
mod outbox;
mod records;
mod sessions;
mod takes;
mod world;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use swarm_core::store::{
    Clock, CommitteeStore, CommitteeTenants, Readiness, Result, Store, Tenants, time_of_commit,
    time_of_read,
};
use swarm_core::{TenantId, Timestamp};

use world::World;

/// All tenants, in memory. Cloning shares them.
#[derive(Clone)]
pub struct MemoryStore {
    tenants: Arc<RwLock<HashMap<TenantId, Arc<TenantStore>>>>,
    clock: TimeSource,
}

type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

impl MemoryStore {
    /// An empty store that goes by the system's clock.
    pub fn new() -> Self {
        Self::with_clock(system_time)
    }

    /// An empty store that goes by `clock`, for tests and simulations.
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { tenants: Arc::default(), clock: Arc::new(clock) }
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    fn tenant(&self, tenant: &TenantId) -> Arc<TenantStore> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = tenants.get(tenant) {
            return store.clone();
        }
        drop(tenants);
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let fresh =
            || Arc::new(TenantStore { world: RwLock::default(), clock: self.clock.clone() });
        tenants.entry(tenant.clone()).or_insert_with(fresh).clone()
    }
}

#[async_trait]
impl Tenants for MemoryStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.tenant(tenant)
    }

    /// Not ready only when its clock is too far behind a log. It gives no warning that nothing
    /// outlives the process: that is its purpose.
    async fn ready(&self) -> Result<Readiness> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        for tenant in tenants.values() {
            tenant.read(|world| time_of_commit((tenant.clock)(), world.log.last()))?;
        }
        Ok(Readiness::default())
    }
}

impl CommitteeTenants for MemoryStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.tenant(tenant)
    }
}

/// One tenant's records behind their lock.
struct TenantStore {
    world: RwLock<World>,
    clock: TimeSource,
}

impl TenantStore {
    /// Reads the world, in parallel with other readers.
    fn read<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        // Writers check everything before they write anything, so that a world whose writer
        // panicked is as whole as any other.
        look(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the world, alone, at the time of the commit: the clock is read under the lock, so a
    /// commit that waited for the lock does not get an earlier time.
    fn commit<T>(&self, change: impl FnOnce(&mut World, Timestamp) -> T) -> Result<T> {
        let mut world = self.world.write().unwrap_or_else(PoisonError::into_inner);
        let now = time_of_commit((self.clock)(), world.log.last())?;
        Ok(change(&mut world, now))
    }

    /// The same, at the time of the clock, even if that is behind the log.
    fn at_any_time<T>(&self, change: impl FnOnce(&mut World, Timestamp) -> T) -> T {
        let mut world = self.world.write().unwrap_or_else(PoisonError::into_inner);
        let now = (self.clock)();
        change(&mut world, now)
    }

    fn time(&self, world: &World) -> Timestamp {
        time_of_read((self.clock)(), world.log.last())
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        Ok(self.read(|world| self.time(world)))
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this store reads the clock")]
fn system_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
    Timestamp::EPOCH.plus_millis(millis)
}
