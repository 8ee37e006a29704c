//! A store on the embedded database redb, complete: both interfaces, dump and restore, behind a server.
//!
//! It implements [`Backend`], and [`Records`] makes the store of that. It is written to be copied: "How to add a store" in
//! ARCHITECTURE.md follows it, and `tests/redb.rs` runs the suites on it.
//!
//! A commit is durable: it returns once redb has synchronized its file. One process has the file open, and one
//! transaction at a time writes. Reads neither wait for it nor delay it. Two limits: a restore is kept in memory until it
//! is committed, and [`Transaction::erases`] is not honoured, because redb leaves what was removed in free pages.
//!
//! Run it: `cargo run -p swarm-examples --example redb_store`

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::SystemTime;

use redb::{
    Database, ReadTransaction, ReadableDatabase as _, ReadableTable, TableDefinition,
    WriteTransaction,
};
use swarm_core::domain::{AdminTokenHash, Version};
use swarm_core::store::backend::engine::{self, Scan, Tables, TablesMut};
use swarm_core::store::backend::{
    Backend, Body, CommitOutcome, Decision, Item, Load, Operation, PartSet, Query, Reading, Row,
    Snapshot, Table, Transaction, Value, key_of,
};
use swarm_core::store::{Changes, Readiness, Result, StoreError, TABLES, async_trait};
use swarm_core::{Committees, Store, Swarm, SystemEntropy, TenantId, Timestamp};
use swarm_http::{AdminTokens, Services, Site, TenantConfig};
use swarm_server::{Limits, serve_site};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// The only table of the database: lists of values, as [`key_of`] writes them, by tenant and [`key`].
///
/// | kind | names | values | list |
/// |---|---|---|---|
/// | `row` | table, "" | primary key | version, columns |
/// | `row` | table, index | columns of the index, primary key | the same |
/// | `part` | table, part | primary key | the text, apart: a read that does not want it leaves it on the disk |
const DATA: TableDefinition<'_, Key, List> = TableDefinition::new("swarm");

type Key = (&'static str, &'static [u8]);
type List = &'static [u8];
type Found = Result<Vec<Value>>;

/// The tables that the backend was opened with.
type Declared = &'static [&'static Table];

/// Returns a key of a tenant. Keys are ordered as the values that they are made of.
fn key(kind: &str, names: &[&str], values: &[Value]) -> Vec<u8> {
    let mut key = key_of(&[Value::from(kind)]);
    names.iter().for_each(|name| Value::from(*name).append_to(&mut key));
    values.iter().for_each(|value| value.append_to(&mut key));
    key
}

fn values_of(mut list: &[u8]) -> Found {
    let mut values = Vec::new();
    while !list.is_empty() {
        values.push(valid(Value::read(&mut list))?);
    }
    Ok(values)
}

fn number(value: &Value) -> Option<u64> {
    value.integer()?.try_into().ok()
}

fn failed(error: impl Into<redb::Error>) -> StoreError {
    StoreError::unavailable("redb", error.into())
}

fn valid<T>(decoded: Option<T>) -> Result<T> {
    decoded.ok_or_else(|| StoreError::corrupt("redb", "an invalid record"))
}

/// The records of a tenant, in a transaction of the database that has the table open.
struct TenantTables<'t, T> {
    tenant: &'t str,
    declared: Declared,
    data: T,
}

impl<T: ReadableTable<Key, List>> TenantTables<'_, T> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<Value>>> {
        let list = self.data.get((self.tenant, key)).map_err(failed)?;
        list.map(|list| values_of(list.value())).transpose()
    }

    fn range(&self, first: &[u8], end: &[u8]) -> Result<impl DoubleEndedIterator<Item = Found>> {
        let range = (self.tenant, first)..(self.tenant, end);
        let found = self.data.range(range).map_err(failed)?;
        Ok(found.map(|found| values_of(found.map_err(failed)?.1.value())))
    }

    fn row_of(&self, table: &'static Table, list: &[Value], parts: PartSet) -> Result<Row> {
        let (version, columns) = valid(list.split_first())?;
        let version = Version(valid(number(version))?);
        let mut texts = vec![None; table.parts.len()];
        for (position, (part, text)) in table.parts.iter().zip(&mut texts).enumerate() {
            if parts.has(position) {
                let primary = columns.get(..table.key).unwrap_or_default();
                let found = self.get(&key("part", &[table.name, part], primary))?;
                *text = found.and_then(|list| list.first()?.text().map(Into::into));
            }
        }
        Ok(Row { version, columns: columns.into(), body: Body::of_texts(texts) })
    }
}

impl<T: ReadableTable<Key, List>> Tables for TenantTables<'_, T> {
    fn declared(&self) -> &[&'static Table] {
        self.declared
    }

    fn row(&self, table: &'static Table, key: &[Value], parts: PartSet) -> Result<Option<Row>> {
        let list = self.get(&self::key("row", &[table.name, ""], key))?;
        list.map(|list| self.row_of(table, &list, parts)).transpose()
    }

    fn scan(&self, scan: &Scan<'_>, each: &mut dyn FnMut(Row) -> Result<bool>) -> Result<()> {
        let Scan { table, index, is_descending, parts, .. } = *scan;
        let index = index.and_then(|index| table.indexes.get(index));
        let base = key("row", &[table.name, index.map_or("", |index| index.name)], &[]);
        let Some(bounds) = scan.bounds(base) else { return Ok(()) };
        let mut found = self.range(bounds.low(), bounds.high())?;
        while let Some(list) = if is_descending { found.next_back() } else { found.next() } {
            if !each(self.row_of(table, &list?, parts)?)? {
                break;
            }
        }
        Ok(())
    }
}

impl TenantTables<'_, redb::Table<'_, Key, List>> {
    fn put(&mut self, key: &[u8], list: &[Value]) -> Result<()> {
        self.data.insert((self.tenant, key), &*key_of(list)).map(drop).map_err(failed)
    }

    fn put_columns(&mut self, table: &Table, row: &Row) -> Result<()> {
        let list = [&[row.version.0.into()], &*row.columns].concat();
        keys_of(table, row).iter().try_for_each(|key| self.put(key, &list))
    }

    fn delete_columns(&mut self, table: &Table, row: &Row) -> Result<()> {
        keys_of(table, row).iter().try_for_each(|key| self.delete(key))
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.data.remove((self.tenant, key)).map(drop).map_err(failed)
    }
}

/// Returns the key of a record, and its key in each index that it is in.
fn keys_of(table: &Table, row: &Row) -> Vec<Vec<u8>> {
    let base = |index| key("row", &[table.name, index], &[]);
    let mut keys = vec![key("row", &[table.name, ""], row.key(table))];
    keys.extend(table.indexes.iter().filter_map(|it| row.index_key(table, it, &base(it.name))));
    keys
}

impl TablesMut for TenantTables<'_, redb::Table<'_, Key, List>> {
    fn insert(&mut self, table: &'static Table, row: Row) -> Result<()> {
        for (position, part) in table.parts.iter().enumerate() {
            if let Some(text) = row.body.part(position) {
                let key = key("part", &[table.name, part], row.key(table));
                self.put(&key, &[Value::from(&*text)])?;
            }
        }
        self.put_columns(table, &row)
    }

    fn set(&mut self, table: &'static Table, old: &Row, column: usize, value: Value) -> Result<()> {
        self.delete_columns(table, old)?;
        self.put_columns(table, &old.with(column, &value))
    }

    fn remove(&mut self, table: &'static Table, old: &Row) -> Result<()> {
        for part in table.parts {
            self.delete(&key("part", &[table.name, part], old.key(table)))?;
        }
        self.delete_columns(table, old)
    }
}

/// Tables in a database. Clones share it.
#[derive(Clone)]
pub(crate) struct RedbBackend {
    database: Arc<Database>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    declared: Declared,
    /// Held by the commit that is being made. The others wait for it here, where they block no threads.
    turn: Arc<Mutex<()>>,
}

impl RedbBackend {
    /// Opens it with these tables: [`TABLES`], or those of the suite of backends.
    pub(crate) fn new(
        database: Arc<Database>,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        declared: Declared,
    ) -> Result<Self> {
        // A table that was never opened to be written cannot be read.
        let transaction = database.begin_write().map_err(failed)?;
        drop(transaction.open_table(DATA).map_err(failed)?);
        transaction.commit().map_err(failed)?;
        Ok(Self { database, clock: Arc::new(clock), declared, turn: Arc::default() })
    }

    /// Writes when no other transaction does. It is committed if `work` returns true, and undone otherwise.
    async fn write<T: Send + 'static>(
        &self,
        op: Operation,
        work: impl FnOnce(&WriteTransaction) -> Result<(T, bool)> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let database = Arc::clone(&self.database);
        blocking(op, move || {
            // Moved here, so that a commit whose caller is gone keeps its turn to the end.
            let _turn = turn;
            let transaction = database.begin_write().map_err(failed)?;
            let (result, is_committed) = work(&transaction)?;
            if is_committed {
                transaction.commit().map_err(failed)?;
            }
            Ok(result)
        })
        .await
    }
}

/// Works on a thread that may wait for the disk.
async fn blocking<T: Send + 'static>(
    op: Operation,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let worked = spawn_blocking(work).await;
    worked.unwrap_or_else(|stopped| Err(StoreError::unavailable(op, stopped)))
}

#[async_trait]
impl Backend for RedbBackend {
    async fn read(&self, tenant: &TenantId, _: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.snapshot(tenant).await?.read(queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let (tenant, clock, declared) = (tenant.clone(), Arc::clone(&self.clock), self.declared);
        // Before its turn, so that no other commit waits for it.
        let transaction = transaction.with_texts();
        self.write(op, move |database| {
            let data = database.open_table(DATA).map_err(failed)?;
            let mut tables = TenantTables { tenant: tenant.as_str(), declared, data };
            let outcome = engine::commit(&mut tables, || clock(), &transaction)?;
            let is_committed = matches!(outcome.decision, Decision::Committed(_));
            Ok((outcome, is_committed))
        })
        .await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        let (backend, tenant) = (self.clone(), tenant.clone());
        let snapshot = blocking("snapshot", move || {
            let at = (backend.clock)();
            let transaction = Arc::new(backend.database.begin_read().map_err(failed)?);
            Ok(Fixed { tenant, declared: backend.declared, transaction, at })
        });
        Ok(Box::new(snapshot.await?))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        Ok(Box::new(Loading { backend: self.clone(), tenants: BTreeMap::new() }))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let (database, declared) = (Arc::clone(&self.database), self.declared);
        blocking("tenants", move || {
            let transaction = database.begin_read().map_err(failed)?;
            let (mut used, mut first) = (Vec::new(), String::new());
            loop {
                let data = transaction.open_table(DATA).map_err(failed)?;
                let mut keys = data.range((&*first, &[][..])..).map_err(failed)?;
                let Some(found) = keys.next() else { return Ok(used) };
                let tenant = found.map_err(failed)?.0.value().0.to_owned();
                if engine::is_used(&TenantTables { tenant: &tenant, declared, data })? {
                    used.push(valid(TenantId::parse(&*tenant).ok())?);
                }
                // The lowest text after this one.
                first = tenant + "\0";
            }
        })
        .await
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        let first = tenant.to_string();
        self.write("remove", move |database| {
            let next = first.clone() + "\0";
            let mut data = database.open_table(DATA).map_err(failed)?;
            let all = (&*first, &[][..])..(&*next, &[][..]);
            data.retain_in(all, |_, _| false).map_err(failed)?;
            Ok(((), true))
        })
        .await
    }

    /// No other process has the file open.
    async fn changes(&self) -> Result<Changes> {
        Ok(Changes { now: (self.clock)(), tenants: Some(Vec::new()) })
    }

    async fn ready(&self) -> Result<Readiness> {
        self.write("ready", |_| Ok((Readiness::default(), true))).await
    }
}

/// The records of a tenant as they were when the transaction began.
#[derive(Clone)]
struct Fixed {
    tenant: TenantId,
    declared: Declared,
    transaction: Arc<ReadTransaction>,
    at: Timestamp,
}

#[async_trait]
impl Snapshot for Fixed {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        let Self { tenant, declared, transaction, at } = self.clone();
        blocking("read", move || {
            let data = transaction.open_table(DATA).map_err(failed)?;
            engine::read(&TenantTables { tenant: tenant.as_str(), declared, data }, at, &queries)
        })
        .await
    }
}

/// Records that are kept in memory until they are committed together.
struct Loading {
    backend: RedbBackend,
    tenants: BTreeMap<TenantId, Vec<Item>>,
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        self.tenants.entry(tenant.clone()).or_default().extend(items);
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        let Self { backend, tenants } = *self;
        let declared = backend.declared;
        let load = move |database: &WriteTransaction| {
            for (tenant, items) in tenants {
                let data = database.open_table(DATA).map_err(failed)?;
                let mut tables = TenantTables { tenant: tenant.as_str(), declared, data };
                if engine::is_used(&tables)? {
                    return Ok((Some(tenant.clone()), false));
                }
                for item in items {
                    engine::load(&mut tables, item)?;
                }
            }
            Ok((None, true))
        };
        backend.write("load", load).await
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this store reads the clock")]
pub(crate) fn system_time() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
    Timestamp::EPOCH.plus_millis(millis)
}

type Served = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

const TOKEN: &str = "choose-sixteen-or-more";

#[tokio::main]
async fn main() -> Served {
    let folder = tempfile::tempdir()?;
    let database = Database::create(folder.path().join("swarm.redb"))?;
    let store = Store::new(RedbBackend::new(Arc::new(database), system_time, TABLES)?);
    let committees = Committees::new(store.clone(), SystemEntropy);
    let services = Services::from((Swarm::new(store.clone(), SystemEntropy), committees));
    let services = services.with_changes(store);
    let operator = AdminTokens::single(AdminTokenHash::of(TOKEN.as_bytes()));
    let site = Arc::new(Site::single(services, TenantConfig::new("acme".parse()?, operator)));
    tokio::spawn(site.maintenance().run());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { serve_site(listener, &site, Limits::default(), pending()).await });
    spawn_blocking(move || visit(&url)).await?
}

/// Creates a subject of interface A and a member of interface B.
fn visit(url: &str) -> Served {
    let subject = ("/api/swarm/admin/subjects", r#"{ "id": "aurora", "name": "Aurora" }"#);
    let member = ("/api/ic/admin/members", r#"{ "id": "ada", "name": "Ada" }"#);
    for (path, json) in [subject, member] {
        let request = ureq::post(format!("{url}{path}")).header("x-admin-token", TOKEN);
        let answer = request.header("content-type", "application/json").send(json)?;
        println!("{path}: {}", answer.status());
    }
    Ok(())
}
