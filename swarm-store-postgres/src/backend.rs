//! The backend: a call of the database for each read, and for each batch of transactions.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::backend::{
    Backend, CommitOutcome as Committed, Load, Operation, Query, Reading, Snapshot, Table,
    Transaction,
};
use swarm_core::store::{BatchCommit, Changes, GroupCommit, Readiness, Result};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::changes::LastCommits;
use crate::commits::{self, CommitScript, Values};
use crate::connect::Connect;
use crate::connector::Connector;
use crate::database::Database;
use crate::failure::{Failure, Outcome};
use crate::health;
use crate::options::Options;
use crate::pool::Pool;
use crate::reads::reading;
use crate::settings::Settings;
use crate::sql::{self, Declared};
use crate::transfer::{Loading, Snapshotted};

/// Transactions in one call.
const MAX_BATCH: usize = 64;

/// The name of the operation in errors.
const OP: Operation = "connect";

/// What the transactions of one call have in bytes, unless a single one has more.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// The backend of a [`PostgresStore`](crate::PostgresStore): the tables of all tenants, in one schema of a database.
pub struct PostgresBackend {
    database: Database,
    tenants: Mutex<HashMap<TenantId, Commits>>,
    last_commits: LastCommits,
    options: Options,
}

impl PostgresBackend {
    /// Creates a schema with these tables where it is missing, and connects to it.
    ///
    /// # Errors
    /// As [`PostgresStore::create`](crate::PostgresStore::create).
    pub async fn create(url: &str, tables: &'static [&'static Table]) -> Result<Self> {
        let backend = Self::at(parse(url)?, tables)?;
        backend.create_if_missing().await.map_err(|failure| failure.of(OP))?;
        backend.checked().await
    }

    /// The backend at the address of these settings, which was not connected to yet.
    pub(crate) fn at(settings: Settings, tables: Declared) -> Result<Self> {
        let connector = Connector::new(&settings).map_err(|failure| failure.of(OP))?;
        Ok(Self::unchecked(Box::new(connector), settings.options, tables))
    }

    /// Uses connections that the program opens, for tables in a schema that is there: as
    /// [`PostgresStore::over`](crate::PostgresStore::over), which has the [`TABLES`](swarm_core::store::TABLES) of the service. For a
    /// program that puts a backend of its own in front of this one.
    ///
    /// # Errors
    /// As [`PostgresStore::over`](crate::PostgresStore::over).
    pub async fn over(
        connect: impl Connect + 'static,
        options: Options,
        tables: &'static [&'static Table],
    ) -> Result<Self> {
        Self::unchecked(Box::new(connect), options, tables).checked().await
    }

    /// The backend over connections that are opened so.
    pub(crate) fn unchecked(connect: Box<dyn Connect>, options: Options, tables: Declared) -> Self {
        let pool = Pool::new(connect, &options);
        let (tenants, last_commits) = Default::default();
        let schema = Arc::new(options.schema.clone().with_tables(tables));
        let database = Database { pool, schema, scripts: Arc::default() };
        Self { database, tenants, last_commits, options }
    }

    /// Checks that the schema is there, that the role may use it, and what may get lost.
    pub(crate) async fn checked(self) -> Result<Self> {
        self.check_rights().await.map_err(|failure| failure.of(OP))?;
        for warning in self.check(OP).await?.warnings {
            tracing::warn!("{warning}");
        }
        Ok(self)
    }

    async fn check_rights(&self) -> Outcome<()> {
        let Database { pool, schema, .. } = &self.database;
        let writes = !self.options.is_read_only;
        let check = pool.call(async |client| schema.check_rights(client, writes).await);
        pool.bounded(check).await
    }

    async fn check(&self, op: Operation) -> Result<Readiness> {
        let Database { pool, schema, .. } = &self.database;
        health::check(pool, schema, op, &self.options).await
    }

    /// Whether the schema is there.
    pub(crate) async fn is_created(&self) -> Result<bool> {
        let Database { pool, schema, .. } = &self.database;
        let look = pool.call(async |client| schema.is_created(client).await);
        pool.bounded(look).await.map_err(|failure| failure.of(OP))
    }

    /// Creates the schema, without a time limit.
    pub(crate) async fn create_if_missing(&self) -> Outcome<()> {
        let Database { pool, schema, .. } = &self.database;
        let connection = pool.bounded(pool.get()).await?;
        let done = schema.create_if_missing(connection.client()).await;
        connection.end(done)
    }

    fn commits(&self, tenant: &TenantId) -> Commits {
        let mut known = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Commits {
            database: self.database.clone(),
            tenant: tenant.clone(),
            group: Arc::default(),
        };
        known.entry(tenant.clone()).or_insert_with(new).clone()
    }
}

pub(crate) fn parse(url: &str) -> Result<Settings> {
    Settings::parse(url, |name| std::env::var(name).ok()).map_err(|failure| failure.of(OP))
}

impl fmt::Debug for PostgresBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresBackend")
            .field("strict", &self.options.strict)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Backend for PostgresBackend {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        let (script, members) = self.database.script_of(&queries);
        let sql = script.execute(tenant.as_str(), &members);
        let rows = self.database.retried(|| self.database.read(&script.script, &sql)).await;
        rows.and_then(|rows| reading(&rows, &queries, &members, self.database.schema.tables()))
            .map_err(|failure| failure.of(op))
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Committed> {
        let Database { schema, scripts, .. } = &self.database;
        let (script, values) = commits::encoded(transaction, |shape| scripts.commit(shape, schema));
        let (commits, sent) = (self.commits(tenant), Sent { op, script, values });
        let spawn = |calls| drop(tokio::spawn(calls));
        commits.group.commit(&commits, sent, spawn).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        let snapshot = Snapshotted::begin(&self.database, tenant).await;
        Ok(Box::new(snapshot.map_err(|failure| failure.of("dump"))?))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        let loading = Loading::begin(&self.database).await;
        Ok(Box::new(loading.map_err(|failure| failure.of("restore"))?))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let Database { pool, schema, .. } = &self.database;
        let used = sql::is_used(schema.tables());
        let sql = format!("SELECT tenant FROM swarm.tenants t WHERE {used} ORDER BY tenant");
        let ids = pool.rows(&schema.qualify(&sql)).await.and_then(|rows| {
            let id = |row: &Row| Ok(TenantId::parse(row.try_get::<_, &str>(0)?)?);
            rows.iter().map(id).collect::<Outcome<_>>()
        });
        ids.map_err(|failure| failure.of("tenants"))
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        let removed = crate::transfer::remove(&self.database, tenant).await;
        removed.map_err(|failure| failure.of("remove"))?;
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner).remove(tenant);
        Ok(())
    }

    async fn changes(&self) -> Result<Changes> {
        self.last_commits.changes(&self.database.pool, &self.database.schema).await
    }

    async fn ready(&self) -> Result<Readiness> {
        self.check("ready").await
    }
}

/// The commits of one tenant.
#[derive(Clone)]
struct Commits {
    database: Database,
    tenant: TenantId,
    group: Arc<GroupCommit<Self>>,
}

/// A transaction that is sent.
struct Sent {
    op: Operation,
    script: Arc<CommitScript>,
    values: Values,
}

#[async_trait]
impl BatchCommit for Commits {
    type Transaction = Sent;
    type Outcome = Committed;

    fn fits(batch: &[&Sent], next: &Sent) -> bool {
        let sent = batch.iter().copied().chain([next]).map(|sent| sent.values.len());
        batch.is_empty() || batch.len() < MAX_BATCH && sent.sum::<usize>() <= MAX_BATCH_BYTES
    }

    async fn commit_batch(&self, batch: &[&Sent]) -> Result<Vec<Result<Committed>>> {
        let op = batch.first().map_or("commit", |sent| sent.op);
        let runs = Run::of(batch);
        let of_tenant = (self.tenant.as_str(), Instant::now());
        let mut args: Vec<(&(dyn ToSql + Sync), Type)> = Vec::with_capacity(4 * runs.len());
        let mut calls = Vec::with_capacity(runs.len());
        for run in &runs {
            // After the tenant and the patience.
            let first = args.len() + 3;
            let numbers = [first, first + 1, first + 2, first + 3].map(|it| format!("${it}"));
            let name = &run.script.script.name;
            calls.push(format!("SELECT * FROM {name}($1, $2, {})", numbers.join(", ")));
            args.push((&run.count, Type::INT8));
            args.push((&run.numbers, Type::INT8_ARRAY));
            args.push((&run.texts, Type::TEXT_ARRAY));
            args.push((&run.bytes, Type::BYTEA_ARRAY));
        }
        // The functions are called one after another, in this order.
        let sql = calls.join(" UNION ALL ");
        let scripts: Vec<_> = runs.iter().map(|run| &run.script.script).collect();
        let call = || self.database.write(&scripts, &sql, of_tenant, &args);
        let rows = self.database.pool.note(self.database.retried(call).await);
        let outcomes = rows.and_then(|rows| outcomes(&rows, &runs, batch));
        outcomes.map_err(|failure| failure.of(op))
    }
}

/// The transactions of a batch that have one shape.
struct Run<'a> {
    script: &'a CommitScript,
    /// Their positions in the batch.
    places: Vec<usize>,
    count: i64,
    numbers: Vec<Option<i64>>,
    texts: Vec<Option<&'a str>>,
    bytes: Vec<Option<&'a [u8]>>,
}

impl<'a> Run<'a> {
    fn of(batch: &[&'a Sent]) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for (place, sent) in batch.iter().enumerate() {
            let name = &sent.script.script.name;
            let known = runs.iter().position(|run| run.script.script.name == *name);
            if known.is_none() {
                runs.push(Self {
                    script: &sent.script,
                    places: Vec::new(),
                    count: 0,
                    numbers: Vec::new(),
                    texts: Vec::new(),
                    bytes: Vec::new(),
                });
            }
            let run = known.unwrap_or(runs.len() - 1);
            let Some(run) = runs.get_mut(run) else { continue };
            let Values { numbers, texts, bytes } = &sent.values;
            run.places.push(place);
            run.count += 1;
            run.numbers.extend(numbers);
            run.texts.extend(texts.iter().map(Option::as_deref));
            run.bytes.extend(bytes.iter().map(Option::as_deref));
        }
        runs
    }
}

/// The outcome of each transaction.
fn outcomes(rows: &[Row], runs: &[Run<'_>], batch: &[&Sent]) -> Outcome<Vec<Result<Committed>>> {
    let places = runs.iter().flat_map(|run| run.places.iter().map(move |place| (run, *place)));
    let mut outcomes = BTreeMap::new();
    for ((run, place), row) in places.zip(rows) {
        let op = batch.get(place).map_or("commit", |sent| sent.op);
        outcomes.insert(place, run.script.outcome(row, op)?);
    }
    match outcomes.len() == batch.len() {
        true => Ok(outcomes.into_values().collect()),
        false => Err(Failure::corrupt("too few outcomes")),
    }
}
