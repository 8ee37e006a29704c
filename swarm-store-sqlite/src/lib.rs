//! The storage port of `swarm-core` in one SQLite file: durable, without a server.
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
//! A write is answered when its commit is on the disk (write-ahead log, `synchronous=FULL`). One thread writes, and
//! commits in one transaction all changes that arrived while the disk was busy with the commit before, so that many
//! clients need hardly more syncs than one. Some threads read in parallel. Several processes of one machine may have
//! the file open.
//!
//! `README.md` says what may be lost, and how to back the file up.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod clock;
mod committee;
mod connection;
mod counts;
mod database;
mod documents;
mod failure;
mod layout;
mod log;
mod log_rows;
mod members;
mod outbox;
mod place;
mod readers;
mod sessions;
mod takes;
mod world;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use swarm_core::store::{
    ChangeFeed, Changes, CommitteeStore, CommitteeTenants, Log as _, LogPosition, Readiness,
    Result, SeenLog, SeenLogs, Store, StoreError, Tenants,
};
use swarm_core::{TenantId, Timestamp};

use database::Database;
use failure::Outcome;
use world::World;

/// All tenants, in one file. Cloning shares it.
#[derive(Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    seen: Arc<SeenLogs>,
    /// The version of the file when changes were asked for last.
    version: Arc<AtomicI64>,
}

impl SqliteStore {
    /// Opens the file at this path, which may block on the disk; creates it where there is none, in
    /// an existing folder. Goes by the system's clock.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be opened, or made or brought up to the newest layout where it has
    /// another; is a database of another program or none; or was written by a newer version of Swarm. Its
    /// source says which. Whether it can be written to, [`ready`](Tenants::ready) says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_clock(path, clock::system_time)
    }

    /// Opens the file and goes by `clock`, for tests and simulations.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_clock(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Self> {
        let database = Database::open(path.as_ref(), Arc::new(clock));
        let database = database.map_err(|failure| failure.of("open"))?;
        Ok(Self { database: Arc::new(database), seen: Arc::default(), version: Arc::default() })
    }

    fn tenant(&self, tenant: &TenantId) -> TenantStore {
        let (database, seen) = (Arc::clone(&self.database), self.seen.of(tenant));
        TenantStore { database, seen, tenant: tenant.clone() }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Tenants for SqliteStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(self.tenant(tenant))
    }

    /// Checks that the file can be read, and written with a commit like any other; and that no
    /// tenant may not commit because its log went back, or the clock is too far behind it. Warns where
    /// the disk had no room lately for a write, or the file was found damaged.
    async fn ready(&self) -> Result<Readiness> {
        let probe = self.database.write(layout::touch).await;
        probe.map_err(|failure| match failure.is_of_room {
            true => StoreError::misconfigured("ready", failure),
            false => failure.of("ready"),
        })?;
        let may_commit = |tenant| async move {
            self.tenant(&tenant).facts("ready", |world| world.time_of_commit().map(drop)).await
        };
        self.seen.check(may_commit).await?;
        let warnings = [
            (
                self.database.lately_had_no_room(),
                "the disk had no room for a write within the last minute",
            ),
            (
                self.database.is_damaged(),
                "the file is damaged, or a record in it garbled: the log says which",
            ),
        ];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        Ok(Readiness { warnings: warnings.map(|(_, warning)| warning.to_owned()).collect() })
    }
}

#[async_trait]
impl ChangeFeed for SqliteStore {
    /// Another process may have changed any tenant where the file has changed by another connection
    /// than the writer's.
    async fn changes(&self) -> Result<Changes> {
        let version = self.database.write(layout::version_by_others).await;
        let version = version.map_err(|failure| failure.of("changes"))?;
        let own = self.seen.take_changed();
        let is_same = self.version.swap(version, Ordering::Relaxed) == version;
        Ok(Changes { now: (self.database.clock())(), tenants: is_same.then_some(own) })
    }
}

impl CommitteeTenants for SqliteStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.tenant(tenant))
    }
}

/// One tenant's part of the store.
struct TenantStore {
    database: Arc<Database>,
    seen: Arc<SeenLog>,
    tenant: TenantId,
}

impl TenantStore {
    /// Reads the world in one snapshot, in parallel with others.
    async fn read<T: Send + 'static>(
        &self,
        op: &'static str,
        look: impl FnOnce(&World<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let world = self.world(look);
        self.database.read(world).await.map_err(|failure| failure.of(op))
    }

    /// Reads facts to be judged by: as [`read`](Self::read), unless the log went back.
    async fn facts<T: Send + 'static>(
        &self,
        op: &'static str,
        look: impl FnOnce(&World<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let seen = self.seen.position();
        let look = move |world: &World<'_>| {
            log_rows::check_facts(world, &seen)?;
            look(world)
        };
        self.seen.note(self.read(op, look).await)
    }

    /// Changes the world, alone, unless its log went back or the clock is far behind it. When this returns, all of the change is
    /// on the disk; after an error, none of it can be relied on.
    async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&World<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let seen = Arc::clone(&self.seen);
        let change = move |world: &World<'_>| {
            log_rows::check_commit(world, &seen.position())?;
            world.time_of_commit()?;
            change(world)
        };
        let outcome = self.write_anyhow(op, change).await;
        if outcome.as_ref().is_err_and(StoreError::is_contended) {
            // Another log may have begun.
            self.log_position().await?;
        }
        outcome
    }

    /// The same, whatever was seen of the log.
    async fn write_anyhow<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&World<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let change = move |world: &World<'_>| Ok((change(world)?, log_rows::position(world)?));
        let _changing = self.seen.changing();
        let outcome = self.database.write(self.world(change)).await;
        let outcome = outcome.map_err(|failure| failure.of(op));
        let (made, position): (T, LogPosition) = self.seen.note(outcome)?;
        self.seen.advance(position);
        Ok(made)
    }

    fn world<T>(
        &self,
        work: impl FnOnce(&World<'_>) -> Outcome<T> + Send + 'static,
    ) -> impl FnOnce(&rusqlite::Connection) -> Outcome<T> + Send + 'static {
        let (tenant, clock) = (self.tenant.clone(), self.database.clock());
        move |db| work(&World::new(db, &tenant, &clock))
    }
}

#[async_trait]
impl swarm_core::store::Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        self.read("now", |world| world.now()).await
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::SessionId;
    use swarm_core::store::StoreErrorKind;

    use super::*;

    #[tokio::test]
    async fn a_write_that_found_no_room_is_warned_of_for_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let now = Arc::new(AtomicI64::new(1_795_000_000_000));
        let clock = Arc::clone(&now);
        let clock = move || Timestamp::from_millis(clock.load(Ordering::Relaxed)).unwrap();
        let store = SqliteStore::open_with_clock(folder.path().join("swarm.db"), clock).unwrap();
        let warnings = async || store.ready().await.unwrap().warnings;
        assert!(warnings().await.is_empty());

        // As on a full disk, nothing but what is there already can be written to.
        let fill = |db: &rusqlite::Connection| Ok(db.pragma_update(None, "max_page_count", 1)?);
        store.database.write(fill).await.unwrap();
        let grow = |db: &rusqlite::Connection| Ok(db.execute_batch("CREATE TABLE more (it)")?);
        assert!(store.database.write(grow).await.unwrap_err().is_of_room);
        let warning = "the disk had no room for a write within the last minute";
        assert_eq!(warnings().await, [warning]);
        now.fetch_add(59_999, Ordering::Relaxed);
        assert_eq!(warnings().await, [warning]);
        now.fetch_add(1, Ordering::Relaxed);
        assert!(warnings().await.is_empty());
    }

    #[tokio::test]
    async fn a_file_that_was_found_damaged_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.db");
        let store = SqliteStore::open(&path).unwrap();
        let world = swarm_testing::World::open(Arc::new(store.clone()), tenant());
        world.convened("aurora").await;
        assert!(store.ready().await.unwrap().warnings.is_empty());
        let other = rusqlite::Connection::open(path).unwrap();
        other.execute("UPDATE sessions SET record = '{'", []).unwrap();
        let session = store.open(&tenant()).session(SessionId(1)).await;
        assert_eq!(session.unwrap_err().kind(), StoreErrorKind::Corrupt);
        let warnings = store.ready().await.unwrap().warnings;
        assert!(warnings.first().unwrap().starts_with("the file is damaged"), "{warnings:?}");
    }

    fn tenant() -> TenantId {
        TenantId::parse("acme").unwrap()
    }
}
