//! A store of `swarm-core` in one SQLite file: durable, without a server.
//!
//! ```no_run
//! use swarm_core::{Committees, Swarm, SystemEntropy};
//! use swarm_store_sqlite::SqliteStore;
//!
//! # fn open() -> Result<(), Box<dyn std::error::Error>> {
//! let store = SqliteStore::open("swarm.db")?;
//! let swarm = Swarm::new(store.clone(), SystemEntropy);
//! let committees = Committees::new(store, SystemEntropy);
//! # Ok(())
//! # }
//! ```
//!
//! A write returns once its commit is on the disk (write-ahead log, `synchronous=FULL`). One thread writes. It commits
//! all changes that arrived during the previous commit in one transaction, so many clients need hardly more syncs
//! than one. Several threads read in parallel. Several processes of one machine may have the file open.
//!
//! The tables are those that `swarm-core` declares. This crate stores them and contains no rule of the service.
//!
//! `README.md` says what may be lost, and how to back up the file.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backend;
mod clock;
mod connection;
mod database;
mod failure;
mod layout;
mod opened_file;
mod readers;
mod sql;
mod tables;
mod writer;

use std::fmt;
use std::path::Path;

use swarm_core::Timestamp;
use swarm_core::store::{Result, Store, TABLES};

pub use backend::SqliteBackend;

/// All tenants, in one file. Cloning shares it.
///
/// [`ready`](Store::ready) checks that the file can be read, and, unless it was opened to be read only, written with an ordinary commit. It
/// warns when the disk was full within the last minute, or corrupt data was found. [`changes`](Store::changes): if a connection other than
/// the writer's has changed the file, another process may have changed any tenant.
#[derive(Clone)]
pub struct SqliteStore(Store);

impl SqliteStore {
    /// Opens the file at this path, or creates it in an existing folder; may block on the disk. Uses the
    /// system clock.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the file cannot be opened or created; is not a database, or one of
    /// another program; or has another layout. Its source says which. Whether the file can be written is reported by
    /// [`ready`](Store::ready).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_clock(path, clock::system_time)
    }

    /// Opens an existing file to read it; may block on the disk. Nothing is written to it, so a file, a folder or a disk that
    /// cannot be written will do. Commits fail with [`StoreErrorKind::ReadOnly`](swarm_core::StoreErrorKind::ReadOnly).
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the file cannot be opened, is empty, no database or one of another
    /// program, or has another layout; and when its latest commits are in the -wal file of a folder that cannot be written
    /// and has no -shm file, where SQLite cannot read them.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let backend = SqliteBackend::open_read_only(path, clock::system_time, TABLES)?;
        Ok(Self(Store::new(backend)))
    }

    /// Checks that [`open`](Self::open) would create the file if it is missing: that no -wal file is left which has the commits of the
    /// one before. Nothing is created.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when there is such a -wal file.
    pub fn check_new(path: impl AsRef<Path>) -> Result<()> {
        connection::check_new(path.as_ref()).map_err(|failure| failure.of("open"))
    }

    /// Opens the file with this clock, for tests and simulations.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_clock(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Self> {
        Ok(Self(Store::new(SqliteBackend::open(path, clock, TABLES)?)))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl std::ops::Deref for SqliteStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl From<SqliteStore> for Store {
    fn from(store: SqliteStore) -> Self {
        store.0
    }
}
