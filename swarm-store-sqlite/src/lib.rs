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
//! A write returns once its commit is on the disk (write-ahead log, `synchronous=FULL`). One thread writes. It commits
//! all changes that arrived during the previous commit in one transaction, so many clients need hardly more syncs
//! than one. Several threads read in parallel. Several processes of one machine may have the file open.
//!
//! `README.md` says what may be lost, and how to back up the file.

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
mod opened_file;
mod outbox;
mod readers;
mod session_rows;
mod sessions;
mod takes;
mod tenant_rows;
mod transfer;
mod tree;
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
use tenant_rows::TenantRows;

/// All tenants, in one file. Cloning shares it.
#[derive(Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    seen: Arc<SeenLogs>,
    /// The version of the file at the last call of [`ChangeFeed::changes`].
    version: Arc<AtomicI64>,
}

impl SqliteStore {
    /// Opens the file at this path, or creates it in an existing folder; may block on the disk. Uses the
    /// system clock.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be opened or created; is not a database, or one of another program; or has
    /// another layout. Its source says which. Whether the file can be written is reported by [`ready`](Tenants::ready).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_clock(path, clock::system_time)
    }

    /// Opens the file with this clock, for tests and simulations.
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

    /// Checks that the file can be read, and written with an ordinary commit, and that no tenant's commits are
    /// blocked because its log went back or the clock is too far behind it. Warns when the disk was full
    /// within the last minute, or corrupt data was found.
    async fn ready(&self) -> Result<Readiness> {
        let probe = self.database.write(layout::touch).await;
        probe.map_err(|failure| match failure.is_disk_full {
            true => StoreError::misconfigured("ready", failure),
            false => failure.of("ready"),
        })?;
        let may_commit = |tenant| async move {
            self.tenant(&tenant).facts("ready", |world| world.time_of_commit().map(drop)).await
        };
        self.seen.check(may_commit).await?;
        let warnings = [
            (
                self.database.was_disk_full_recently(),
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
    /// If a connection other than the writer's has changed the file, another process may have changed any
    /// tenant.
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
    /// Reads the tenant's rows in one snapshot, in parallel with other reads.
    async fn read<T: Send + 'static>(
        &self,
        op: &'static str,
        look: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let world = self.world(look);
        self.database.read(world).await.map_err(|failure| failure.of(op))
    }

    /// Reads the facts of a judgement: as [`read`](Self::read), but fails when the log went back.
    async fn facts<T: Send + 'static>(
        &self,
        op: &'static str,
        look: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let seen = self.seen.position();
        let look = move |world: &TenantRows<'_>| {
            log_rows::check_facts(world, &seen)?;
            look(world)
        };
        self.seen.note(self.read(op, look).await)
    }

    /// Changes the tenant's rows in a write transaction. Fails when the log went back, or the clock is far behind it.
    /// After `Ok`, the whole change is on the disk. After an error, its outcome is unknown.
    async fn write<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let change = |world: &TenantRows<'_>| {
            world.time_of_commit()?;
            change(world)
        };
        self.write_filing(op, change).await
    }

    /// As [`write`](Self::write), for a filing. It checks the clock itself, after looking for a resent attempt.
    async fn write_filing<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let seen = Arc::clone(&self.seen);
        let change = move |world: &TenantRows<'_>| {
            log_rows::check_commit(world, &seen.position())?;
            change(world)
        };
        let outcome = self.write_unchecked(op, change).await;
        if outcome.as_ref().is_err_and(StoreError::is_contended) {
            // Another log may have begun.
            self.log_position().await?;
        }
        outcome
    }

    /// As [`write`](Self::write), without comparing the log with the position seen, or its time with the clock.
    async fn write_unchecked<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let change = move |world: &TenantRows<'_>| Ok((change(world)?, log_rows::position(world)?));
        let _changing = self.seen.changing();
        let outcome = self.database.write(self.world(change)).await;
        let outcome = outcome.map_err(|failure| failure.of(op));
        let (made, position): (T, LogPosition) = self.seen.note(outcome)?;
        self.seen.advance(position);
        Ok(made)
    }

    /// Writes data that is not part of the tenant's records. No change is announced.
    async fn write_apart<T: Send + 'static>(
        &self,
        op: &'static str,
        change: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        self.database.write(self.world(change)).await.map_err(|failure| failure.of(op))
    }

    fn world<T>(
        &self,
        work: impl FnOnce(&TenantRows<'_>) -> Outcome<T> + Send + 'static,
    ) -> impl FnOnce(&rusqlite::Connection) -> Outcome<T> + Send + 'static {
        let (tenant, clock) = (self.tenant.clone(), self.database.clock());
        move |db| work(&TenantRows::new(db, &tenant, &clock))
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
    use swarm_core::domain::{SessionState, SubjectId};
    use swarm_core::store::{SessionList, StoreErrorKind, SummaryQuery};

    use super::*;

    #[tokio::test]
    async fn full_disk_is_warned_of_for_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let now = Arc::new(AtomicI64::new(1_795_000_000_000));
        let clock = Arc::clone(&now);
        let clock = move || Timestamp::from_millis(clock.load(Ordering::Relaxed)).unwrap();
        let store = SqliteStore::open_with_clock(folder.path().join("swarm.db"), clock).unwrap();
        let warnings = async || store.ready().await.unwrap().warnings;
        assert!(warnings().await.is_empty());

        // Like a full disk, this allows writes to existing pages only.
        let fill = |db: &rusqlite::Connection| Ok(db.pragma_update(None, "max_page_count", 1)?);
        store.database.write(fill).await.unwrap();
        let grow = |db: &rusqlite::Connection| {
            Ok(db.execute_batch("CREATE TABLE more AS SELECT zeroblob(1000000)")?)
        };
        assert!(store.database.write(grow).await.unwrap_err().is_disk_full);
        let warning = "the disk had no room for a write within the last minute";
        assert_eq!(warnings().await, [warning]);
        now.fetch_add(59_999, Ordering::Relaxed);
        assert_eq!(warnings().await, [warning]);
        now.fetch_add(1, Ordering::Relaxed);
        assert!(warnings().await.is_empty());
    }

    #[tokio::test]
    async fn corrupt_record_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("swarm.db");
        let store = SqliteStore::open(&path).unwrap();
        let world = swarm_testing::TestTenant::open(Arc::new(store.clone()), tenant());
        world.convened("aurora").await;
        assert!(store.ready().await.unwrap().warnings.is_empty());
        let other = rusqlite::Connection::open(path).unwrap();
        other.execute("UPDATE sessions SET record = '{}'", []).unwrap();
        let session = store.open(&tenant()).session(SessionId(1)).await;
        assert_eq!(session.unwrap_err().kind(), StoreErrorKind::Corrupt);
        let warnings = store.ready().await.unwrap().warnings;
        assert!(warnings.first().unwrap().starts_with("the file is damaged"), "{warnings:?}");
    }

    #[tokio::test]
    async fn lists_and_acts_are_read_from_their_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("swarm.db")).unwrap();
        let in_state = SessionList::InState(SessionState::Collecting);
        let about = SessionList::About(SubjectId::parse("aurora").unwrap());
        let of = |list| sessions::summary_sql(&SummaryQuery { list, ..SummaryQuery::default() });
        for (sql, index) in [
            (of(in_state), "sessions_by_state (tenant=? AND state=? AND id>? AND id<?)"),
            (of(about), "sessions_by_subject (tenant=? AND subject=? AND id>? AND id<?)"),
            (log::ACTS_ON.to_owned(), "log_by_session (tenant=? AND session=?)"),
        ] {
            let plan = move |db: &rusqlite::Connection| {
                let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let mut steps = statement.raw_query();
                let step = steps.next()?.map(|row| row.get::<_, String>("detail")).transpose()?;
                Ok((step, steps.next()?.is_some()))
            };
            let (step, has_more) = store.database.write(plan).await.unwrap();
            assert!(step.as_ref().unwrap().ends_with(index) && !has_more, "{step:?}");
        }
    }

    fn tenant() -> TenantId {
        TenantId::parse("acme").unwrap()
    }
}
