//! Implements [`Backend`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use rusqlite::Connection;
use swarm_core::store::backend::engine;
use swarm_core::store::backend::{
    Backend, CommitOutcome as Committed, Item, Load, Operation, Query, Reading, Snapshot, Table,
    Transaction,
};
use swarm_core::store::{Changes, Readiness, Result, StoreError};
use swarm_core::{TenantId, Timestamp};

use crate::connection::{self, Access};
use crate::database::Database;
use crate::failure::{Failure, Outcome};
use crate::layout;
use crate::opened_file::OpenedFile;
use crate::readers::{self, Jobs};
use crate::sql::Statements;
use crate::tables::TenantTables;

/// Tables and logs of all tenants, in one file: the backend of [`SqliteStore`](crate::SqliteStore), which can have any tables.
pub struct SqliteBackend {
    database: Database,
    statements: Arc<Statements>,
    /// The version of the file at the last call of [`changes`](Backend::changes).
    version: AtomicI64,
}

impl SqliteBackend {
    /// Opens the file at this path, or creates it with these tables in an existing folder; may block on the disk. `clock` is the
    /// source of the time.
    ///
    /// # Errors
    /// As [`SqliteStore::open`](crate::SqliteStore::open).
    pub fn open(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        tables: &'static [&'static Table],
    ) -> Result<Self> {
        let statements = Arc::new(Statements::new(tables));
        let database = Database::open(path.as_ref(), Arc::new(clock), &statements.schema());
        let database = database.map_err(|failure| failure.of("open"))?;
        Ok(Self { database, statements, version: AtomicI64::default() })
    }

    /// Opens an existing file to read it. Nothing is written to it, also if it could be: commits fail with
    /// [`StoreErrorKind::ReadOnly`](swarm_core::StoreErrorKind::ReadOnly).
    ///
    /// # Errors
    /// As [`SqliteStore::open_read_only`](crate::SqliteStore::open_read_only).
    pub fn open_read_only(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        tables: &'static [&'static Table],
    ) -> Result<Self> {
        let statements = Arc::new(Statements::new(tables));
        let database = Database::open_read_only(path.as_ref(), Arc::new(clock));
        let database = database.map_err(|failure| failure.of("open"))?;
        Ok(Self { database, statements, version: AtomicI64::default() })
    }

    /// Work on the records of a tenant, for a thread.
    fn work<T>(
        &self,
        tenant: &TenantId,
        work: impl FnOnce(TenantTables<'_>) -> Outcome<T> + Send + 'static,
    ) -> impl FnOnce(&Connection) -> Outcome<T> + Send + 'static {
        let (tenant, statements) = (tenant.clone(), Arc::clone(&self.statements));
        move |db| work(TenantTables::new(db, &statements, &tenant))
    }
}

impl std::fmt::Debug for SqliteBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteBackend").finish_non_exhaustive()
    }
}

#[async_trait]
impl Backend for SqliteBackend {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        let clock = self.database.clock();
        let read = self.work(tenant, move |tables| Ok(engine::read(&tables, clock(), &queries)?));
        self.database.read(read).await.map_err(|failure| failure.of(op))
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Committed> {
        let (clock, erases) = (self.database.clock(), transaction.erases);
        // The texts are not written in the one thread that commits.
        let transaction = transaction.with_texts();
        let commit = self.work(tenant, move |mut tables| {
            Ok(engine::commit(&mut tables, || clock(), &transaction)?)
        });
        self.database.commit(erases, commit).await.map_err(|failure| failure.of(op))
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        let (path, now) = (self.database.path().to_owned(), (self.database.clock())());
        let access = self.database.access();
        let open = move || connection::to_read(&path, access);
        let jobs = readers::begin("swarm-sqlite-dump", "BEGIN", open);
        let jobs = jobs.await.map_err(|failure| failure.of("dump"))?;
        let statements = Arc::clone(&self.statements);
        Ok(Box::new(FixedState { jobs, now, statements, tenant: tenant.clone() }))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        if self.database.access() != Access::Write {
            return Err(Failure::read_only().of("restore"));
        }
        let path = self.database.path().to_owned();
        let file = OpenedFile::of(&path);
        let open = move || connection::to_write(&path);
        let jobs = readers::begin("swarm-sqlite-restore", "BEGIN IMMEDIATE", open).await;
        let jobs = jobs.map_err(|failure| failure.of("restore"))?;
        let statements = Arc::clone(&self.statements);
        Ok(Box::new(OpenLoad { jobs, file, statements, last: None, occupied: None }))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let tenants = self.statements.tenants();
        let found = self.database.read(move |db| {
            let mut statement = db.prepare_cached(&tenants)?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let id = row.get_ref(0)?.as_str().map_err(Failure::corrupt)?;
                found.push(TenantId::parse(id)?);
            }
            Ok(found)
        });
        found.await.map_err(|failure| failure.of("tenants"))
    }

    /// Commits of other tenants wait until it is done.
    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        let (removals, id) = (self.statements.removals(), tenant.clone());
        let removed = self.database.commit(true, move |db| {
            for removal in &removals {
                db.execute(removal, [id.as_str()])?;
            }
            Ok(())
        });
        removed.await.map_err(|failure| failure.of("remove"))
    }

    /// If a connection other than the writer's has changed the file, another process may have changed any
    /// tenant.
    async fn changes(&self) -> Result<Changes> {
        if self.database.access() != Access::Write {
            return Ok(Changes { now: (self.database.clock())(), tenants: None });
        }
        let version = self.database.write(layout::version_by_others).await;
        let version = version.map_err(|failure| failure.of("changes"))?;
        let is_same = self.version.swap(version, Ordering::Relaxed) == version;
        Ok(Changes { now: (self.database.clock())(), tenants: is_same.then(Vec::new) })
    }

    /// Checks that the file can be read, and, unless it was opened to be read only, written with an ordinary commit. Warns
    /// when the disk was full within the last minute, or corrupt data was found.
    async fn ready(&self) -> Result<Readiness> {
        let probe = match self.database.access() {
            Access::Write => self.database.write(layout::touch).await,
            Access::Read | Access::ReadImmutable => {
                self.database.read(layout::check_unchanged).await
            }
        };
        probe.map_err(|failure| match failure.is_disk_full {
            true => StoreError::misconfigured("ready", failure),
            false => failure.of("ready"),
        })?;
        let warnings = [
            (
                self.database.was_disk_full_recently(),
                "the disk had no room for a write within the last minute",
            ),
            (self.database.is_damaged(), "the file is damaged: the log says where"),
        ];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        Ok(Readiness { warnings: warnings.map(|(_, warning)| warning.to_owned()).collect() })
    }
}

/// A snapshot, which a thread reads in one transaction.
struct FixedState {
    jobs: Jobs,
    now: Timestamp,
    statements: Arc<Statements>,
    tenant: TenantId,
}

#[async_trait]
impl Snapshot for FixedState {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        let (statements, tenant) = (Arc::clone(&self.statements), self.tenant.clone());
        let now = self.now;
        let reading = readers::ask(&self.jobs, move |db| {
            let tables = TenantTables::new(db, &statements, &tenant);
            Ok(engine::read(&tables, now, &queries)?)
        });
        reading.await.map_err(|failure| failure.of("dump"))
    }
}

/// A load, which a thread writes in one transaction. It holds the write lock of the file until it ends; a process that is
/// killed meanwhile leaves the file as it was.
struct OpenLoad {
    jobs: Jobs,
    file: OpenedFile,
    statements: Arc<Statements>,
    last: Option<TenantId>,
    occupied: Option<TenantId>,
}

#[async_trait]
impl Load for OpenLoad {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        if self.occupied.is_some() {
            return Ok(());
        }
        let is_first = self.last.replace(tenant.clone()).as_ref() != Some(tenant);
        let (statements, written) = (Arc::clone(&self.statements), tenant.clone());
        let is_free = readers::ask(&self.jobs, move |db| {
            let mut tables = TenantTables::new(db, &statements, &written);
            if is_first && engine::is_used(&tables)? {
                return Ok(false);
            }
            for item in items {
                engine::load(&mut tables, item)?;
            }
            Ok(true)
        });
        if !is_free.await.map_err(|failure| failure.of("restore"))? {
            self.occupied = Some(tenant.clone());
        }
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        if self.occupied.is_some() {
            return Ok(self.occupied);
        }
        let Self { jobs, file, .. } = *self;
        let committed = readers::ask(&jobs, move |db| {
            file.check_in_place()?;
            db.execute_batch("COMMIT")?;
            file.check_in_place()
        });
        committed.await.map_err(|failure| failure.of("restore"))?;
        Ok(None)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        let discarded = readers::ask(&self.jobs, |db| Ok(db.execute_batch("ROLLBACK")?));
        discarded.await.map_err(|failure| failure.of("restore"))
    }
}

#[cfg(test)]
mod tests;
