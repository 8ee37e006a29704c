//! The index of earlier lines of a dump that a restore needs, in a temporary file, so that its memory does not grow with the dump.

use rusqlite::{Connection, OptionalExtension as _, Result, params};
use swarm_core::service::dump::{DumpIndex, IndexKey};

use crate::failure::CommandError;

/// An index in a database that only this process can open. SQLite makes its file in the folder of temporary files
/// (`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp` or `/tmp`) when its cache is full, and the system removes the file when it
/// is closed or the process is killed.
#[derive(Debug)]
pub(super) struct IndexOnDisk(Connection);

impl IndexOnDisk {
    /// An empty index.
    pub(super) fn new() -> std::result::Result<Self, CommandError> {
        // Nothing has to survive a failure. The cache has 16 MiB.
        const SETTINGS: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;
            CREATE TABLE facts (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; BEGIN";
        // An empty name is that of a temporary database.
        let database = Connection::open("").and_then(|it| it.execute_batch(SETTINGS).map(|()| it));
        database.map(Self).map_err(|error| CommandError::Refused(failed(&error)))
    }

    fn value(&self, key: &IndexKey) -> Result<Option<String>> {
        let mut value = self.0.prepare_cached("SELECT value FROM facts WHERE key = ?1")?;
        value.query_row(params![key], |row| row.get(0)).optional()
    }

    fn replace(&self, key: &IndexKey, value: &str) -> Result<()> {
        let mut set = self.0.prepare_cached("REPLACE INTO facts (key, value) VALUES (?1, ?2)")?;
        set.execute(params![key, value]).map(drop)
    }

    fn values(&self, first: u8, then: &mut dyn FnMut(String)) -> Result<()> {
        const VALUES: &str = "SELECT value FROM facts WHERE key >= ?1 AND key < ?2";
        let mut values = self.0.prepare_cached(VALUES)?;
        let mut rows = values.query(params![[first], [first.saturating_add(1)]])?;
        while let Some(row) = rows.next()? {
            then(row.get(0)?);
        }
        Ok(())
    }
}

impl DumpIndex for IndexOnDisk {
    fn get(&mut self, key: &IndexKey) -> std::result::Result<Option<String>, String> {
        self.value(key).map_err(|error| failed(&error))
    }

    fn set(&mut self, key: IndexKey, value: String) -> std::result::Result<(), String> {
        self.replace(&key, &value).map_err(|error| failed(&error))
    }

    fn each(&mut self, first: u8, then: &mut dyn FnMut(String)) -> std::result::Result<(), String> {
        self.values(first, then).map_err(|error| failed(&error))
    }

    fn clear(&mut self) -> std::result::Result<(), String> {
        self.0.execute_batch("DELETE FROM facts").map_err(|error| failed(&error))
    }
}

fn failed(error: &rusqlite::Error) -> String {
    format!("the temporary index cannot be used: {error}")
}
