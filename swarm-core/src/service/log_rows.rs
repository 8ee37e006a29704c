//! Rows of the log, some of which may not be readable (API.md, 11.4).
//!
//! A row refers to the take that it is about. Where that was deleted from the store by hand, the store cannot read the
//! row, nor any rows together with it. Here the others are read all the same.

use crate::domain::{LogEntry, LogRow, Logged, Seq, SessionAct, TakeId};
use crate::store::{Records, Result, StoreError, StoreErrorKind};

/// A row that the store cannot read.
#[derive(Clone, Debug)]
pub(super) struct UnreadableRow {
    pub(super) seq: Seq,
    /// Why, in the words of the store.
    pub(super) why: String,
}

/// A row, or which one cannot be read.
pub(super) type Row = std::result::Result<LogRow, UnreadableRow>;

/// The number of a row.
pub(super) fn seq(row: &Row) -> Seq {
    row.as_ref().map_or_else(|unreadable| unreadable.seq, |row| row.seq)
}

/// Whether a row is the act by which a session was opened. The rows that open its takes follow it.
pub(super) fn opens_session(row: &LogRow) -> bool {
    let Logged::Entry(entry) = &row.logged else { return false };
    matches!(&**entry, LogEntry::Session(act) if act.act == SessionAct::Opened)
}

/// The take that a row opens.
pub(super) fn opened_take(row: &LogRow) -> Option<TakeId> {
    let Logged::Entry(entry) = &row.logged else { return None };
    match &**entry {
        LogEntry::Opening(opening) => Some(opening.id),
        _ => None,
    }
}

/// Up to `limit` rows after the one numbered `after`, as the store reads them.
pub(super) async fn rows(store: &Records, after: Seq, limit: usize) -> Result<Vec<Row>> {
    match store.log(after, limit).await {
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            let size = store.log_position().await?.size;
            let left = usize::try_from(size.0.saturating_sub(after.0)).unwrap_or(usize::MAX);
            one_by_one(store, after, limit.min(left)).await
        }
        rows => Ok(rows?.into_iter().map(Ok).collect()),
    }
}

/// Reads so many rows, all of which there are: together where that is possible.
async fn one_by_one(store: &Records, after: Seq, count: usize) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut together = count.div_ceil(2);
    while rows.len() < count {
        let last = rows.last().map_or(after, seq);
        match store.log(last, together.min(count - rows.len())).await {
            Ok(read) if read.is_empty() => break,
            Ok(read) => rows.extend(read.into_iter().map(Ok)),
            Err(error) if error.kind() != StoreErrorKind::Corrupt => return Err(error),
            Err(_) if together > 1 => together = together.div_ceil(2),
            Err(error) => {
                rows.push(Err(UnreadableRow { seq: Seq(last.0 + 1), why: reason(&error) }));
                together = count;
            }
        }
    }
    Ok(rows)
}

/// Why a store cannot read something.
fn reason(error: &StoreError) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
