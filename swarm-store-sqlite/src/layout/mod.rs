//! Layouts of the file: their numbers, and the migrations between them.

mod entries;

use rusqlite::{Connection, TransactionBehavior};

use crate::failure::{Failure, Outcome};

/// The SQLite application id of files of this store, "Swrm".
const APPLICATION: i32 = 0x5377_726d;

/// The migration to each layout from the one before, in order: what is done to the records, if
/// anything, and then the statements.
const LAYOUTS: [(Option<Change>, &str); 8] = [
    (None, include_str!("1.sql")),
    (None, include_str!("2.sql")),
    (Some(entries::complete), include_str!("3.sql")),
    (None, include_str!("4.sql")),
    (None, include_str!("5.sql")),
    (None, include_str!("6.sql")),
    (None, include_str!("7.sql")),
    (None, include_str!("8.sql")),
];

type Change = fn(&Connection) -> Outcome<()>;

/// Migrates the file to the newest layout, in one transaction. Writes nothing to one that has it: on a
/// full disk, such a file is still opened, and read.
///
/// # Errors
/// [`Failure`], with nothing written, when the file is a database of something else, or its layout
/// is newer than those known here.
pub(crate) fn bring_up_to_date(db: &mut Connection) -> Outcome<()> {
    // Checked first: the journal mode of another program's file must not be changed.
    layout(db)?;
    // With this mode, readers and the writer do not block each other; a commit is on the disk
    // before it is acknowledged.
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Failure::misconfigured("the file system cannot keep a write-ahead log"));
    }
    if layout(db)? == LAYOUTS.len() {
        return Ok(());
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (records, statements) in LAYOUTS.iter().skip(layout(&change)?) {
        if let Some(records) = records {
            records(&change)?;
        }
        change.execute_batch(statements)?;
    }
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", newest())?;
    Ok(change.commit()?)
}

/// Checks that no process has migrated the file to a newer layout since it was opened.
pub(crate) fn still_known(db: &Connection) -> Outcome<()> {
    let mut version = db.prepare_cached("PRAGMA user_version")?;
    known(version.query_one([], |row| row.get(0))?).map(drop)
}

/// Writes an unchanged value, to test whether the file can be written.
pub(crate) fn touch(db: &Connection) -> Outcome<()> {
    Ok(db.pragma_update(None, "user_version", newest())?)
}

/// A number that changes with each commit through another connection.
pub(crate) fn version_by_others(db: &Connection) -> Outcome<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// The layout of the file; 0 for an empty one.
fn layout(db: &Connection) -> Outcome<usize> {
    let number = |pragma| db.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let (application, layout) = (number("application_id")?, number("user_version")?);
    if application == APPLICATION {
        return known(layout);
    }
    let tables = "SELECT count(*) FROM sqlite_schema";
    let is_empty = db.query_one(tables, [], |row| row.get::<_, i64>(0))? == 0;
    if is_empty && (application, layout) == (0, 0) {
        return Ok(0);
    }
    Err(Failure::misconfigured("the file is a database of another program"))
}

fn known(layout: i32) -> Outcome<usize> {
    let number = usize::try_from(layout).ok().filter(|number| *number <= LAYOUTS.len());
    number.ok_or_else(|| {
        let newest = newest();
        Failure::misconfigured(format!(
            "the file has layout {layout}, and this version of Swarm knows none after {newest}: \
             it was written by a newer one"
        ))
    })
}

fn newest() -> i64 {
    i64::try_from(LAYOUTS.len()).unwrap_or(i64::MAX)
}
