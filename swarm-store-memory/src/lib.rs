//! A store of `swarm-core` in memory, on ordered maps.
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

mod backend;
mod tables;

use swarm_core::Timestamp;
use swarm_core::store::Store;

pub use backend::MemoryBackend;

/// A store in memory. Clones share its records.
#[derive(Clone)]
pub struct MemoryStore {
    backend: MemoryBackend,
    store: Store,
}

impl MemoryStore {
    /// An empty store with the system's clock.
    pub fn new() -> Self {
        Self::with_clock(system_time)
    }

    /// An empty store with this clock, for tests and simulations.
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::of(MemoryBackend::with_clock(clock))
    }

    fn of(backend: MemoryBackend) -> Self {
        Self { store: Store::new(backend.clone()), backend }
    }

    /// A backup: another store with a copy of the current records. For tests and simulations.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::of(self.backend.copy())
    }

    /// Replaces its records by those of a backup. For tests and simulations.
    pub fn go_back_to(&self, backup: &Self) {
        self.backend.restore(&backup.backend);
    }

    /// The same records as opened by another process, which has seen nothing of them yet. For tests and
    /// simulations.
    #[must_use]
    pub fn opened_again(&self) -> Self {
        Self { store: self.store.opened_again(), ..self.clone() }
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

impl std::ops::Deref for MemoryStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl From<MemoryStore> for Store {
    fn from(store: MemoryStore) -> Self {
        store.store
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
