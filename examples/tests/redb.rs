//! The conformance suites on the store of `redb_store.rs`.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

#[path = "../redb_store.rs"]
#[allow(dead_code, reason = "the example is a program")]
mod redb_store;

use std::sync::{Arc, Mutex};

use redb::Database;
use redb_store::{RedbBackend, system_time};
use swarm_core::domain::Version;
use swarm_core::store::backend::{
    Answer, Backend as _, Body, Column, ColumnKind, CommitId, Decision, Head, Index, Kind, PartSet,
    Query, Range, Row, Table, Transaction, Value, Write,
};
use swarm_core::{Store, TenantId, Timestamp};
use swarm_testing::ManualClock;
use swarm_testing::conformance::wait_of_a_commit_counts_towards_its_deadline;
use tempfile::TempDir;

fn database(folder: &TempDir) -> Arc<Database> {
    Arc::new(Database::create(folder.path().join("swarm.redb")).unwrap())
}

fn store(database: &Arc<Database>) -> Store {
    Store::new(RedbBackend::new(Arc::clone(database), system_time).unwrap())
}

async fn in_a_file() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&database(&folder));
    (folder, store)
}

/// Each case has dropped the store before.
async fn reopened(folder: &TempDir) -> Store {
    store(&database(folder))
}

swarm_testing::conformance!(in_a_file, reopened);

type FileAndClock = (TempDir, ManualClock);

async fn with_a_clock() -> (FileAndClock, Store) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
    let shown = clock.clone();
    let backend = RedbBackend::new(database(&folder), move || shown.now()).unwrap();
    ((folder, clock), Store::new(backend))
}

fn set((_, clock): &FileAndClock, now: Timestamp) {
    clock.set(now);
}

swarm_testing::clock_conformance!(with_a_clock, set);

async fn in_one_process() -> (TempDir, Vec<Store>) {
    let (folder, store) = in_a_file().await;
    (folder, vec![store])
}

swarm_testing::change_feed_conformance!(in_one_process);

/// A database, and the savepoint that is its backup.
struct BackedUp {
    database: Arc<Database>,
    savepoint: Mutex<Option<u64>>,
    _folder: TempDir,
}

async fn that_goes_back() -> (BackedUp, Store) {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let store = store(&database);
    (BackedUp { database, savepoint: Mutex::default(), _folder: folder }, store)
}

async fn back_up(guard: &BackedUp) {
    let change = guard.database.begin_write().unwrap();
    *guard.savepoint.lock().unwrap() = Some(change.persistent_savepoint().unwrap());
    change.commit().unwrap();
}

async fn restore(guard: &BackedUp) {
    let mut change = guard.database.begin_write().unwrap();
    let savepoint = guard.savepoint.lock().unwrap().unwrap();
    let savepoint = change.get_persistent_savepoint(savepoint).unwrap();
    change.restore_savepoint(&savepoint).unwrap();
    change.commit().unwrap();
}

async fn again(guard: &BackedUp) -> Store {
    store(&guard.database)
}

swarm_testing::continuity_conformance!(that_goes_back, back_up, restore, again);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn wait_for_the_database_counts_towards_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let hold = async |_: &TenantId| database.begin_write().unwrap();
    wait_of_a_commit_counts_towards_its_deadline(store(&database), hold).await;
}

static ODD: Table = Table {
    veiled: None,
    name: "odd",
    columns: &[
        Column { name: "time", kind: ColumnKind::Time },
        Column { name: "text", kind: ColumnKind::Text },
        Column { name: "bytes", kind: ColumnKind::Bytes },
        Column { name: "nothing", kind: ColumnKind::Text },
    ],
    key: 1,
    parts: &["first", "second", "third"],
    indexes: &[
        Index { name: "by_text", columns: &[1], is_unique: false },
        Index { name: "by_nothing", columns: &[3], is_unique: false },
    ],
    is_transient: false,
};

/// What no record of the service has, or none that a suite reads back.
#[tokio::test]
async fn values_and_parts_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let backend = RedbBackend::new(database(&folder), system_time).unwrap();
    let tenant = TenantId::parse("test").unwrap();
    let times = [i64::MIN, -1, 0, 1, i64::MAX];
    let columns =
        |time| [Value::Integer(time), "a\0\u{ffff}".into(), [0, 255, 0][..].into(), Value::Null];
    let texts = [Some("\0".into()), None, Some("".into())];
    let inserts = times.map(|time| Write::Insert {
        table: &ODD,
        columns: columns(time).map(Into::into).to_vec(),
        body: Body::of_texts(texts.to_vec()),
    });
    commit(&backend, &tenant, inserts.to_vec()).await;

    let by_text = Range::index(&ODD, 0, vec!["a\0\u{ffff}".into()]);
    let found = read(&backend, &tenant, Range { is_descending: true, ..by_text.clone() }).await;
    assert_eq!(found.len(), times.len());
    for (row, time) in found.iter().rev().zip(times) {
        assert_eq!((row.version, &*row.columns), (Version(1), &columns(time)[..]));
        assert_eq!(parts(row), texts);
    }
    let second_and_third = Range { parts: PartSet::of(&[1, 2]), ..Range::all(&ODD) };
    let found = read(&backend, &tenant, second_and_third).await;
    assert_eq!(parts(&found[0]), [None, None, Some("".into())]);

    // A column that is set leaves version and parts, and moves the record to another index.
    let first = Range::key(&ODD, vec![Value::Integer(times[0]).into()]);
    let value = Value::from("something").into();
    commit(&backend, &tenant, vec![Write::Set { range: first.clone(), column: 3, value }]).await;
    let by_nothing = Range::index(&ODD, 1, Vec::new());
    let found = read(&backend, &tenant, by_nothing.clone()).await;
    assert_eq!((found.len(), found[0].version, parts(&found[0])), (1, Version(1), texts.to_vec()));

    // A record that is written anew has the parts that were written last.
    commit(&backend, &tenant, vec![Write::Remove(first)]).await;
    assert_eq!(read(&backend, &tenant, by_nothing).await.len(), 0);
    let table = &ODD;
    let columns = columns(times[0]).map(Into::into).to_vec();
    commit(&backend, &tenant, vec![Write::Insert { table, columns, body: Body::empty() }]).await;
    let found = read(&backend, &tenant, by_text).await;
    assert_eq!((found.len(), parts(&found[0])), (times.len(), vec![None, None, None]));
}

async fn commit(backend: &RedbBackend, tenant: &TenantId, writes: Vec<Write>) {
    let transaction = Transaction {
        id: CommitId([7; 16]),
        kind: Kind::Aside,
        seen: Head::default(),
        repetition: None,
        checks: Vec::new(),
        sequences: Vec::new(),
        writes,
        entries: Vec::new(),
        erases: false,
    };
    let outcome = backend.commit(tenant, "test", transaction).await.unwrap();
    assert!(matches!(outcome.decision, Decision::Committed(_)), "{outcome:?}");
}

async fn read(backend: &RedbBackend, tenant: &TenantId, range: Range) -> Vec<Row> {
    let reading = backend.read(tenant, "test", vec![Query::Rows(range)]).await.unwrap();
    reading.answers.iter().flat_map(Answer::rows).cloned().collect()
}

fn parts(row: &Row) -> Vec<Option<Box<str>>> {
    let text = |part| row.body.part(part).map(|text| text.into());
    (0..ODD.parts.len()).map(text).collect()
}
