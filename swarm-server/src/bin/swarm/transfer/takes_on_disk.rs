//! What a restore has to know of every take, in a temporary file, so that its memory does not grow with the takes.

use rusqlite::{Connection, OptionalExtension as _, Result, params};
use swarm_core::service::dump::{TakeIndex, TakeKey};

use crate::command::CommandError;

/// An index in a database that only this process can open. SQLite makes its file in the folder of temporary files
/// (`SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp` or `/tmp`) when its cache is full, and the system removes the file when it
/// is closed or the process is killed.
#[derive(Debug)]
pub(super) struct TakesOnDisk(Connection);

impl TakesOnDisk {
    /// An empty index.
    pub(super) fn new() -> std::result::Result<Self, CommandError> {
        // Nothing has to survive a failure. A cache of 16 MiB holds some 400,000 takes.
        const SETTINGS: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;
            CREATE TABLE takes (key BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID; BEGIN";
        // An empty name is that of a temporary database.
        let database = Connection::open("").and_then(|it| it.execute_batch(SETTINGS).map(|()| it));
        database.map(Self).map_err(|error| CommandError::Refused(failed(&error)))
    }

    fn replace(&self, key: TakeKey, number: u8) -> Result<Option<u8>> {
        let mut before = self.0.prepare_cached("SELECT number FROM takes WHERE key = ?1")?;
        let before = before.query_row(params![key], |row| row.get(0)).optional()?;
        let mut set = self.0.prepare_cached("REPLACE INTO takes (key, number) VALUES (?1, ?2)")?;
        set.execute(params![key, number])?;
        Ok(before)
    }
}

impl TakeIndex for TakesOnDisk {
    fn set(&mut self, key: TakeKey, number: u8) -> std::result::Result<Option<u8>, String> {
        self.replace(key, number).map_err(|error| failed(&error))
    }
}

fn failed(error: &rusqlite::Error) -> String {
    format!("the temporary index of takes cannot be used: {error}")
}
