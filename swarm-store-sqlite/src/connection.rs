//! Opens connections to the file, and sets their pragmas.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, Outcome};

/// How many times a lock held by another process is retried, once a millisecond: for five seconds.
const MAX_LOCK_RETRIES: i32 = 5_000;

/// Capacity of the statement cache; larger than the number of statements.
const STATEMENT_CACHE_CAPACITY: usize = 500;

/// Checks that a file that is missing left no -wal file, which SQLite would remove.
pub(crate) fn check_new(path: &Path) -> Outcome<()> {
    match path.try_exists() {
        Ok(false) if has_log(path) => Err(Failure::misconfigured(ORPHANED_LOG)),
        _ => Ok(()),
    }
}

/// Opens a connection that writes; creates the file if there is none.
pub(crate) fn to_write(path: &Path) -> Outcome<Connection> {
    check_new(path)?;
    make(path);
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // A commit is on the disk before it is acknowledged; `fullfsync` has an effect only on macOS.
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "fullfsync", true)?;
    // Overwrites replaced and deleted content with zeros, so that erased data is gone from the file.
    db.pragma_update(None, "secure_delete", true)?;
    Ok(db)
}

/// What the process may do to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It reads and writes.
    Write,
    /// It only reads. Others may write, so it takes part in their locks, for which SQLite makes the -wal and -shm files.
    Read,
    /// It only reads a file that nobody writes, in a folder where those files are missing and cannot be made.
    ReadImmutable,
}

impl Access {
    /// Returns the access to an existing file that is only read.
    pub(crate) fn to_only_read(path: &Path) -> Outcome<Self> {
        match to_read(path, Self::Read) {
            Ok(_) => Ok(Self::Read),
            Err(failure) if failure.is_not_opened => {
                // Commits in the -wal file would be left out.
                if has_log(path) {
                    return Err(Failure::misconfigured(UNREAD_LOG));
                }
                to_read(path, Self::ReadImmutable).map(|_| Self::ReadImmutable)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// Whether there is a -wal file with commits.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(with_ending(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

const ORPHANED_LOG: &str = "the file is missing, but its -wal file is there and has the latest commits: put the file back, or \
                            remove the -wal file to lose them and to begin with an empty file";

const UNREAD_LOG: &str = "the latest commits are in the -wal file, and SQLite cannot read them in a folder that cannot be \
                          written: copy both files to another folder, or let a server that may write close the file";

/// Opens a connection that only reads.
pub(crate) fn to_read(path: &Path, access: Access) -> Outcome<Connection> {
    let db = match access {
        Access::Write => open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        Access::Read => open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        Access::ReadImmutable => {
            open(&immutable(path), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    db.pragma_update(None, "query_only", true)?;
    // Opens the -wal and -shm files now, while they are certain to belong to this file.
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// The URI of a file that SQLite reads without locks.
fn immutable(path: &Path) -> PathBuf {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    (uri + "?immutable=1").into()
}

/// Creates the file if there is none, readable by its owner only, since it contains the members' contacts. If it
/// cannot be created, SQLite reports the error.
fn make(path: &Path) {
    let mut file = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    let _ = file.write(true).create_new(true).open(path);
}

/// Removes the permissions of group and others from an existing file, for example a restored backup, and from its -wal
/// and -shm files, if this process may change them. Only for a file that is known to be one of this store: another
/// one, at an address that was mistyped, stays as it is.
pub(crate) fn make_private(path: &Path) {
    #[cfg(unix)]
    for ending in ["", "-wal", "-shm"] {
        remove_permissions_of_others(&with_ending(path, ending));
    }
    #[cfg(not(unix))]
    let _ = path;
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(unix)]
fn remove_permissions_of_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(found) = std::fs::metadata(path) else { return };
    let mut permissions = found.permissions();
    if found.is_file() && permissions.mode() & 0o077 != 0 {
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
