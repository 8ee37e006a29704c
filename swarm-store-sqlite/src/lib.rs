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
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::store::{
    ChangeFeed, Changes, CommitteeStore, CommitteeTenants, Dump, Readiness, Records, Restore,
    Result, Store, TABLES, Tenants, Transfer,
};
use swarm_core::{TenantId, Timestamp};

use backend::SqliteBackend;

/// All tenants, in one file. Cloning shares it.
#[derive(Clone)]
pub struct SqliteStore(Records<SqliteBackend>);

impl SqliteStore {
    /// Opens the file at this path, or creates it in an existing folder; may block on the disk. Uses the
    /// system clock.
    ///
    /// # Errors
    /// [`StoreError`](swarm_core::StoreError) when the file cannot be opened or created; is not a database, or one of
    /// another program; or has another layout. Its source says which. Whether the file can be written is reported by
    /// [`ready`](Tenants::ready).
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
        Ok(Self(Records::new(SqliteBackend::open(path.as_ref(), Arc::new(clock), TABLES)?)))
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
        self.0.open(tenant)
    }

    /// Checks that the file can be read, and written with an ordinary commit, and that no tenant's commits are
    /// blocked because its log went back or the clock is too far behind it. Warns when the disk was full
    /// within the last minute, or corrupt data was found.
    async fn ready(&self) -> Result<Readiness> {
        self.0.ready().await
    }
}

impl CommitteeTenants for SqliteStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        self.0.open_committee(tenant)
    }
}

#[async_trait]
impl ChangeFeed for SqliteStore {
    /// If a connection other than the writer's has changed the file, another process may have changed any
    /// tenant.
    async fn changes(&self) -> Result<Changes> {
        self.0.changes().await
    }
}

#[async_trait]
impl Transfer for SqliteStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.0.tenants().await
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        self.0.dump(tenant).await
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        self.0.restore().await
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
