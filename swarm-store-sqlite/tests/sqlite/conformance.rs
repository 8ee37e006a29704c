//! The conformance suites of both ports.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use rusqlite::{Connection, Row, TransactionBehavior};
use swarm_core::{CommitteeTenants, Tenants, Timestamp};
use swarm_store_sqlite::SqliteStore;
use swarm_testing::ManualClock;
use tempfile::TempDir;

fn open(folder: &TempDir) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(folder.path().join("swarm.db")).unwrap())
}

type FileAndClock = (TempDir, ManualClock);

fn open_with_clock() -> (FileAndClock, Arc<SqliteStore>) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(Timestamp::EPOCH));
    let (path, source) = (folder.path().join("swarm.db"), clock.clone());
    let store = SqliteStore::open_with_clock(path, move || source.now()).unwrap();
    ((folder, clock), Arc::new(store))
}

fn set((_, clock): &FileAndClock, now: Timestamp) {
    clock.set(now);
}

mod interface_a {
    use super::*;

    async fn in_a_file() -> (TempDir, Arc<dyn Tenants>) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        (folder, store)
    }

    async fn again(folder: &TempDir) -> Arc<dyn Tenants> {
        open(folder)
    }

    swarm_testing::conformance!(in_a_file, again);

    async fn with_a_clock() -> (FileAndClock, Arc<dyn Tenants>) {
        let (guard, store) = open_with_clock();
        (guard, store)
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
            let copy =
                format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM copy.{table}");
            change.execute_batch(&format!("DELETE FROM main.{table}; {copy}")).unwrap();
        }
        drop(tables);
        change.commit().unwrap();
    }

    swarm_testing::continuity_conformance!(in_a_file, back_up, restore, again);
}

mod interface_b {
    use super::*;

    async fn in_a_file() -> (TempDir, Arc<dyn CommitteeTenants>) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        (folder, store)
    }

    async fn again(folder: &TempDir) -> Arc<dyn CommitteeTenants> {
        open(folder)
    }

    swarm_testing::committee_conformance!(in_a_file, again);

    async fn with_a_clock() -> (FileAndClock, Arc<dyn CommitteeTenants>) {
        let (guard, store) = open_with_clock();
        (guard, store)
    }

    swarm_testing::committee_clock_conformance!(with_a_clock, set);
}

async fn that_moves() -> (TempDir, Arc<SqliteStore>) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    (folder, store)
}

swarm_testing::transfer_conformance!(that_moves);
