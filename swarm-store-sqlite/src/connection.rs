//! Opens connections to the file, and sets their pragmas.

use std::fs::OpenOptions;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::failure::Outcome;

/// How many times a lock held by another process is retried, once a millisecond: for five seconds.
const MAX_LOCK_RETRIES: i32 = 5_000;

/// Capacity of the statement cache; larger than the number of statements.
const STATEMENT_CACHE_CAPACITY: usize = 500;

/// Opens a connection that writes; creates the file if there is none.
pub(crate) fn to_write(path: &Path) -> Outcome<Connection> {
    make(path);
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // A commit is on the disk before it is acknowledged; `fullfsync` has an effect only on macOS.
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "fullfsync", true)?;
    // Overwrites replaced and deleted content with zeros, so that erased data is gone from the file.
    db.pragma_update(None, "secure_delete", true)?;
    Ok(db)
}

/// Opens a connection that only reads.
pub(crate) fn to_read(path: &Path) -> Outcome<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.pragma_update(None, "query_only", true)?;
    // Opens the -wal and -shm files now, while they are certain to belong to this file.
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// Creates the file, readable by its owner only, since it contains the members' contacts. An existing
/// file, for example a restored backup, gets the same mode if this process may change it, as do its -wal
/// and -shm files. If the file cannot be created, SQLite reports the error.
fn make(path: &Path) {
    let mut file = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    let _ = file.write(true).create_new(true).open(path);
    #[cfg(unix)]
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        make_private(Path::new(&name));
    }
}

/// Removes the permissions of group and others.
#[cfg(unix)]
fn make_private(path: &Path) {
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
    db.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    // Otherwise SQLite prepares a statement again when other values are bound, to see whether they need
    // another plan.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A full disk has no room for temporary files either.
    db.pragma_update(None, "temp_store", "memory")?;
    Ok(db)
}

fn wait(tries: i32) -> bool {
    thread::sleep(Duration::from_millis(1));
    tries < MAX_LOCK_RETRIES
}
