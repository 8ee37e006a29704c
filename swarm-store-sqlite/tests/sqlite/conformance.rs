//! The conformance suites.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use rusqlite::{Connection, Row, TransactionBehavior};
use swarm_core::{Store, Timestamp};
use swarm_store_sqlite::SqliteStore;
use swarm_testing::ManualClock;
use tempfile::TempDir;

async fn in_a_file() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = again(&folder).await;
    (folder, store)
}

async fn again(folder: &TempDir) -> Store {
    SqliteStore::open(folder.path().join("swarm.db")).unwrap().into()
}

swarm_testing::conformance!(in_a_file, again);

type FileAndClock = (TempDir, ManualClock);

async fn with_a_clock() -> (FileAndClock, Store) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
    let (path, source) = (folder.path().join("swarm.db"), clock.clone());
    let store = SqliteStore::open_with_clock(path, move || source.now()).unwrap();
    ((folder, clock), store.into())
}

fn set((_, clock): &FileAndClock, now: Timestamp) {
    clock.set(now);
}

swarm_testing::clock_conformance!(with_a_clock, set);

async fn back_up(folder: &TempDir) {
    let copy = folder.path().join("copy.db");
    let db = Connection::open(folder.path().join("swarm.db")).unwrap();
    db.execute("VACUUM INTO ?1", [copy.to_str()]).unwrap();
}

/// Overwrites an open file like `.restore` of the sqlite3 shell.
async fn restore(folder: &TempDir) {
    let copy = folder.path().join("copy.db");
    let mut db = Connection::open(folder.path().join("swarm.db")).unwrap();
    db.execute("ATTACH ?1 AS copy", [copy.to_str()]).unwrap();
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    // `table_info` has all columns but generated ones.
    let tables =
        "SELECT name, (SELECT group_concat(name) FROM pragma_table_info(sqlite_schema.name))
        FROM sqlite_schema WHERE type = 'table'";
    let mut tables = change.prepare(tables).unwrap();
    let named = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    for table in tables.query_map([], named).unwrap() {
        let (table, columns) = table.unwrap();
        let copy = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM copy.{table}");
        change.execute_batch(&format!("DELETE FROM main.{table}; {copy}")).unwrap();
    }
    drop(tables);
    change.commit().unwrap();
}

swarm_testing::continuity_conformance!(in_a_file, back_up, restore, again);
