//! The storage port of `swarm-core` in memory, on plain maps.
//!
//! ```
//! use swarm_core::{Swarm, SystemEntropy, TenantId};
//! use swarm_store_memory::MemoryStore;
//!
//! let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
//! let tenant = swarm.tenant(&TenantId::parse("acme")?);
//! # Ok::<_, swarm_core::Invalid>(())
//! ```
//!
//! For tests, demonstrations, and services whose data may be lost: nothing outlives the process. Each
//! tenant has its own locks; reads do not block each other.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod committee;
mod committee_records;
mod counts;
mod documents;
mod log;
mod log_rows;
mod members;
mod outbox;
mod session_table;
mod sessions;
mod takes;
mod tenant_records;
mod transfer;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;
use swarm_core::store::{
    ChangeFeed, Changes, Clock, CommitteeStore, CommitteeTenants, LogPosition, Readiness, Result,
    SeenLog, SeenLogs, Store, Tenants, time_of_commit, time_of_read,
};
use swarm_core::{TenantId, Timestamp};

use tenant_records::TenantRecords;

/// A store in memory. Clones share its records.
#[derive(Clone)]
pub struct MemoryStore {
    tenants: Arc<RwLock<RecordsByTenant>>,
    clock: TimeSource,
    seen: Arc<SeenLogs>,
}

/// The records of each tenant, behind their lock.
type RecordsByTenant = HashMap<TenantId, Arc<RwLock<TenantRecords>>>;

type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

impl MemoryStore {
    /// An empty store with the system's clock.
    pub fn new() -> Self {
        Self::with_clock(system_time)
    }

    /// An empty store with this clock, for tests and simulations.
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { tenants: Arc::default(), clock: Arc::new(clock), seen: Arc::default() }
    }

    /// A backup: another store with a copy of the current records. For tests and simulations.
    #[must_use]
    pub fn copy(&self) -> Self {
        let tenants = lock_to_read(&self.tenants);
        let copied = |(id, tenant): (&TenantId, &Arc<RwLock<TenantRecords>>)| {
            (id.clone(), Arc::new(RwLock::new(lock_to_read(tenant).clone())))
        };
        let tenants = Arc::new(RwLock::new(tenants.iter().map(copied).collect()));
        Self { tenants, clock: Arc::clone(&self.clock), seen: Arc::default() }
    }

    /// Replaces its records by those of a backup. For tests and simulations.
    pub fn restore(&self, backup: &Self) {
        let backup = lock_to_read(&backup.tenants);
        for (id, tenant) in lock_to_read(&self.tenants).iter() {
            let restored = backup.get(id).map(|tenant| lock_to_read(tenant).clone());
            *lock_to_write(tenant) = restored.unwrap_or_default();
        }
    }

    /// The same records as opened by another process, which has seen nothing of them yet. For tests and
    /// simulations.
    #[must_use]
    pub fn opened_again(&self) -> Self {
        Self { seen: Arc::default(), ..self.clone() }
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
    fn tenant(&self, tenant: &TenantId) -> TenantStore {
        let (clock, seen) = (Arc::clone(&self.clock), self.seen.of(tenant));
        TenantStore { records: self.records(tenant), clock, seen }
    }

    fn records(&self, tenant: &TenantId) -> Arc<RwLock<TenantRecords>> {
        if let Some(tenant) = lock_to_read(&self.tenants).get(tenant) {
            return Arc::clone(tenant);
        }
        Arc::clone(lock_to_write(&self.tenants).entry(tenant.clone()).or_default())
    }
}

#[async_trait]
impl Tenants for MemoryStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(self.tenant(tenant))
    }

    /// Not ready only when commits of a tenant are refused. That nothing outlives the process is its
    /// purpose and no warning.
    async fn ready(&self) -> Result<Readiness> {
        let may_commit = |tenant| async move { self.tenant(&tenant).may_commit() };
        self.seen.check(may_commit).await?;
        Ok(Readiness::default())
    }
}

#[async_trait]
impl ChangeFeed for MemoryStore {
    async fn changes(&self) -> Result<Changes> {
        Ok(Changes { now: (self.clock)(), tenants: Some(self.seen.take_changed()) })
    }
}

impl CommitteeTenants for MemoryStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.tenant(tenant))
    }
}

/// One tenant's part of the store.
struct TenantStore {
    records: Arc<RwLock<TenantRecords>>,
    clock: TimeSource,
    seen: Arc<SeenLog>,
}

impl TenantStore {
    /// Locks the records for reading, in parallel with other readers.
    fn read<T>(&self, look: impl FnOnce(&TenantRecords) -> T) -> T {
        look(&lock_to_read(&self.records))
    }

    /// Reads facts for a judgement: as [`read`](Self::read), but an error when the log went back.
    fn facts<T>(&self, look: impl FnOnce(&TenantRecords) -> T) -> Result<T> {
        let facts = self.read(|tenant| {
            tenant.check_facts(&self.seen.position())?;
            Ok(look(tenant))
        });
        self.seen.note(facts)
    }

    /// Locks the records for writing, at the time of the commit: the clock is read under the lock, so that a
    /// commit that waited for the lock does not get an earlier time.
    fn commit<T>(&self, change: impl FnOnce(&mut TenantRecords, Timestamp) -> T) -> Result<T> {
        self.commit_unless(|_| None, change)
    }

    /// As [`commit`](Self::commit), but commits nothing if the outcome is known before the clock is read.
    fn commit_unless<T>(
        &self,
        known: impl FnOnce(&TenantRecords) -> Option<T>,
        change: impl FnOnce(&mut TenantRecords, Timestamp) -> T,
    ) -> Result<T> {
        self.change(|tenant, seen| {
            tenant.check_commit(seen)?;
            if let Some(outcome) = known(tenant) {
                return Ok(outcome);
            }
            let now = time_of_commit((self.clock)(), tenant.log.last())?;
            Ok(change(tenant, now))
        })
    }

    /// Locks the records for writing, and remembers the log's position afterwards. The closure gets the
    /// position seen before.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut TenantRecords, &LogPosition) -> Result<T>,
    ) -> Result<T> {
        let _changing = self.seen.changing();
        let mut tenant = lock_to_write(&self.records);
        let seen = self.seen.position();
        let outcome = self.seen.note(change(&mut tenant, &seen));
        if outcome.is_ok() || tenant.log.number() > seen.log {
            self.seen.advance(tenant.log.position());
        }
        outcome
    }

    fn may_commit(&self) -> Result<()> {
        self.facts(|tenant| time_of_commit((self.clock)(), tenant.log.last()).map(drop))?
    }

    fn time(&self, tenant: &TenantRecords) -> Timestamp {
        time_of_read((self.clock)(), tenant.log.last())
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        Ok(self.read(|tenant| self.time(tenant)))
    }
}

// Writers check everything before they write anything, so the records are consistent even after a writer
// panicked.

fn lock_to_read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn lock_to_write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "the one place where this store reads the clock")]
fn system_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
    Timestamp::EPOCH.plus_millis(millis)
}
