//! The layout of the file: its identification, and the creation of its schema.

use rusqlite::{Connection, TransactionBehavior};
use swarm_core::store::other_layout;

use crate::failure::{Failure, Outcome};

/// The SQLite application id of files of this store, "swrm".
const APPLICATION: i32 = 0x7377_726d;

/// The application id of files from before the first release, "Swrm". Their layouts have numbers from 1 as well. The
/// application id is another one, so that no program takes a file of the other kind for its own.
const UNRELEASED_APPLICATION: i32 = 0x5377_726d;

/// The number of the layout that this program reads and writes.
const LAYOUT: i32 = 6;

/// Checks that the file has the schema, or is empty: the journal mode and the permissions of another program's file must
/// not be changed.
///
/// # Errors
/// [`Failure`] when it is no database, one of another program, or has another layout.
pub(crate) fn check_own(db: &Connection) -> Outcome<()> {
    has_schema(db).map(drop)
}

/// Creates the schema in an empty file, in one transaction. Writes nothing to a file that has it: on a full disk, such a
/// file is still opened, and read. The file must have passed [`check_own`].
pub(crate) fn prepare(db: &mut Connection, schema: &str) -> Outcome<()> {
    // With this mode, readers and the writer do not block each other; a commit is on the disk
    // before it is acknowledged.
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Failure::misconfigured("the file system cannot keep a write-ahead log"));
    }
    if has_schema(db)? {
        return Ok(());
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created it meanwhile.
    if !has_schema(&change)? {
        change.execute_batch(schema)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", LAYOUT)?;
    }
    Ok(change.commit()?)
}

/// Checks that a file which is only read has the schema.
///
/// # Errors
/// [`Failure`] when it is empty, a database of another program, or has another layout.
pub(crate) fn check_present(db: &Connection) -> Outcome<()> {
    match has_schema(db)? {
        true => Ok(()),
        false => Err(Failure::misconfigured("the file is empty")),
    }
}

/// Checks that the layout of the file has not changed since it was opened.
pub(crate) fn check_unchanged(db: &Connection) -> Outcome<()> {
    let mut version = db.prepare_cached("PRAGMA user_version")?;
    check(version.query_one([], |row| row.get(0))?)
}

/// Writes an unchanged value, to test whether the file can be written.
pub(crate) fn touch(db: &Connection) -> Outcome<()> {
    Ok(db.pragma_update(None, "user_version", LAYOUT)?)
}

/// A number that changes with each commit through another connection.
pub(crate) fn version_by_others(db: &Connection) -> Outcome<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Returns whether the file has the schema, or is empty.
fn has_schema(db: &Connection) -> Outcome<bool> {
    let number = |pragma| db.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let (application, layout) = (number("application_id")?, number("user_version")?);
    match application {
        APPLICATION => return check(layout).map(|()| true),
        UNRELEASED_APPLICATION => {
            let found = format!("{layout} of a program before the first release");
            return Err(Failure::misconfigured(other_layout(found, LAYOUT)));
        }
        _ => {}
    }
    let tables = "SELECT count(*) FROM sqlite_schema";
    let is_empty = db.query_one(tables, [], |row| row.get::<_, i64>(0))? == 0;
    if is_empty && (application, layout) == (0, 0) {
        return Ok(false);
    }
    Err(Failure::misconfigured("the file is a database of another program"))
}

fn check(layout: i32) -> Outcome<()> {
    match layout {
        LAYOUT => Ok(()),
        other => Err(Failure::misconfigured(other_layout(other, LAYOUT))),
    }
}
