//! One connection to the file.

use std::fs::OpenOptions;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::failure::Outcome;

/// How often a lock that another process holds is retried, once a millisecond: for five seconds.
const TRIES: i32 = 5_000;

/// The size of the statement cache: larger than the number of statements.
const STATEMENT_CACHE: usize = 200;

/// Opens a connection that writes; makes the file where there is none.
pub(crate) fn to_write(path: &Path) -> Outcome<Connection> {
    make(path);
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // A commit is on the disk before it is acknowledged; `fullfsync` has an effect only on macOS.
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "fullfsync", true)?;
    Ok(db)
}

/// Opens a connection that only reads.
pub(crate) fn to_read(path: &Path) -> Outcome<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.pragma_update(None, "query_only", true)?;
    // Opens what stands beside the file, too, while it is surely of this one.
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// Creates a file that only its owner can read, since it contains the members' contacts. One that is
/// there, perhaps a restored backup, gets the same mode, with the files beside it, where this process
/// may change that. When the file cannot be created, SQLite deals with it.
fn make(path: &Path) {
    let mut file = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    let _ = file.write(true).create_new(true).open(path);
    #[cfg(unix)]
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        withdraw_from_others(Path::new(&name));
    }
}

/// Leaves a file readable and writable by its owner alone.
#[cfg(unix)]
fn withdraw_from_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(found) = std::fs::metadata(path) else { return };
    let mut permissions = found.permissions();
    if permissions.mode() & 0o077 != 0 {
        permissions.set_mode(permissions.mode() & !0o077);
        let _ = std::fs::set_permissions(path, permissions);
    }
}

fn open(path: &Path, flags: OpenFlags) -> Outcome<Connection> {
    // Each connection is used by one thread at a time.
    let mut db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_handler(Some(wait))?;
    db.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    // Otherwise a statement is prepared again whenever it gets other values: SQLite would look whether
    // they ask for another plan.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A full disk has no room for temporary files either.
    db.pragma_update(None, "temp_store", "memory")?;
    Ok(db)
}

fn wait(tries: i32) -> bool {
    thread::sleep(Duration::from_millis(1));
    tries < TRIES
}
