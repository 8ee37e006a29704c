//! The log and the sequences as tables, for a backend that stores them like the declared ones.

use super::{Column, ColumnKind, CommitId, Entry, Index, Reference, Row, Table, Value};
use crate::domain::{Seq, Timestamp, Version};

/// The table of the entries of the log: the key is the number, and the index is in the order of [`Entries::topic`](super::Entries).
pub static LOG: Table = Table {
    name: "log",
    columns: &[
        Column { name: "seq", kind: ColumnKind::Integer },
        Column { name: "at", kind: ColumnKind::Time },
        Column { name: "commit_id", kind: ColumnKind::Bytes },
        Column { name: "topic", kind: ColumnKind::Integer },
        Column { name: "assigned", kind: ColumnKind::Integer },
        Column { name: "refers", kind: ColumnKind::Text },
        Column { name: "record", kind: ColumnKind::Integer },
    ],
    key: 1,
    parts: &["entry"],
    veiled: None,
    indexes: &[Index { name: "log_by_topic", columns: &[3, 0], is_unique: true }],
    is_transient: false,
};

/// The table of the sequences: the last number of each, or its sum. The [engine](super::engine) keeps the number of the log in
/// it too, as the sequence `log`.
pub static SEQUENCES: Table = Table {
    name: "sequences",
    columns: &[
        Column { name: "name", kind: ColumnKind::Text },
        Column { name: "number", kind: ColumnKind::Integer },
    ],
    key: 1,
    parts: &[],
    veiled: None,
    indexes: &[],
    is_transient: false,
};

/// The name of the number of the log among the sequences. Without a record it is 1.
pub(super) const LOG_NUMBER: &str = "log";

impl Entry {
    /// Returns the entry as a record of the table [`LOG`].
    pub fn into_row(self) -> Row {
        let Self { seq, at, commit, topic, assigned, reference, body } = self;
        let columns = [
            seq.0.into(),
            at.into(),
            commit.0[..].into(),
            topic.map_or(Value::Null, Value::Integer),
            assigned.into(),
            reference.as_ref().map(|reference| reference.table.name).into(),
            reference.as_ref().map(|reference| reference.key).into(),
        ];
        Row { version: Version(1), columns: columns.into(), body }
    }

    /// Returns the entry in a record of the table [`LOG`]. The record that it refers to is in one of `tables`, and is not read.
    /// `None` if the record is not valid.
    pub fn of_row(row: Row, tables: &[&'static Table]) -> Option<Self> {
        let [seq, at, commit, topic, assigned, refers, record] = &*row.columns else { return None };
        let number = |value: &Value| u64::try_from(value.integer()?).ok();
        let reference = match refers.text() {
            Some(name) => {
                let table = tables.iter().find(|table| table.name == name)?;
                Some(Reference { table, key: number(record)?, row: None })
            }
            None => None,
        };
        let (seq, at) = (Seq(number(seq)?), Timestamp::from_millis(at.integer()?)?);
        let commit = CommitId(commit.bytes()?.try_into().ok()?);
        let (topic, assigned) = (topic.integer(), number(assigned));
        Some(Self { seq, at, commit, topic, assigned, reference, body: row.body })
    }
}
