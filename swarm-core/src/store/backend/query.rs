//! Queries, and their answers.

use std::sync::Arc;

use crate::domain::{Seq, Timestamp, Version};

use super::{Body, Index, PartSet, Table, Term, Value, key_length};

/// A question to a tenant's records. Queries that are asked together are answered at one position of the log.
#[derive(Clone, Debug)]
pub enum Query {
    /// Records in the order of their key or an index: [`Answer::Rows`].
    Rows(Range),
    /// The number of the records in a range: [`Answer::Number`]. Its limit is the largest number that matters.
    Count(Range),
    /// The last number that was taken from this sequence, or its sum: [`Answer::Number`].
    Sequence(&'static str),
    /// Entries of the log: [`Answer::Entries`].
    Entries(Entries),
    /// The commit that appended the entry with this number: [`Answer::Commit`].
    CommitOf(Seq),
}

/// Records of a table that follow each other in an index.
#[derive(Clone, Debug)]
pub struct Range {
    /// The table.
    pub table: &'static Table,
    /// The position of the index; `None`: the primary key.
    pub index: Option<usize>,
    /// The values of the first columns of the index.
    pub prefix: Vec<Term>,
    /// Only records with a higher value in the column after the prefix.
    pub after: Option<Term>,
    /// Only records with a lower value in the column after the prefix.
    pub before: Option<Term>,
    /// Whether the last records come first.
    pub is_descending: bool,
    /// Only records in which the column with this position is not null.
    pub having: Option<usize>,
    /// The maximum number of records.
    pub limit: usize,
    /// The maximum size of the parts of all records together, in bytes. There is at least one record, if any.
    pub bytes: usize,
    /// The parts that are read.
    pub parts: PartSet,
    /// A record of another table to read with each.
    pub join: Option<Join>,
}

impl Range {
    /// All records of a table, with all parts.
    pub fn all(table: &'static Table) -> Self {
        Self {
            table,
            index: None,
            prefix: Vec::new(),
            after: None,
            before: None,
            is_descending: false,
            having: None,
            limit: usize::MAX,
            bytes: usize::MAX,
            parts: PartSet::ALL,
            join: None,
        }
    }

    /// The record with this key.
    pub fn key(table: &'static Table, key: Vec<Term>) -> Self {
        Self { prefix: key, limit: 1, ..Self::all(table) }
    }

    /// The records with these values in the first columns of an index.
    pub fn index(table: &'static Table, index: usize, prefix: Vec<Term>) -> Self {
        Self { index: Some(index), prefix, ..Self::all(table) }
    }
}

/// A record of another table: the one whose key is the value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// The other table. Its key is a single column.
    pub table: &'static Table,
    /// The position of the column that has the key.
    pub column: usize,
    /// The parts that are read.
    pub parts: PartSet,
}

/// Entries of the log, oldest first.
#[derive(Clone, Debug)]
pub struct Entries {
    /// Only entries about this topic.
    pub topic: Option<i64>,
    /// Only entries with a higher number.
    pub after: Seq,
    /// The maximum number of entries.
    pub limit: usize,
    /// The parts that are read of the records that the entries refer to: all, with a [veiled](super::Veil) one or without.
    pub parts: PartSet,
}

/// The answers to queries, at one position of the log.
#[derive(Debug)]
pub struct Reading {
    /// The time by the store's clock, which was read before the records.
    pub clock: Timestamp,
    /// The end of the log.
    pub head: Head,
    /// An answer for each query, in their order.
    pub answers: Vec<Answer>,
}

/// The answer to a query.
#[derive(Debug)]
pub enum Answer {
    /// Records.
    Rows {
        /// The records.
        rows: Vec<Row>,
        /// For a query with a join: the other record of each, `None` where there is none.
        joined: Vec<Option<Row>>,
        /// Whether the range has another record, which its limit in bytes left out.
        has_more: bool,
    },
    /// A number.
    Number(u64),
    /// Entries of the log.
    Entries(Vec<Entry>),
    /// The commit that appended an entry; `None` if there is no such entry.
    Commit(Option<CommitId>),
}

impl Answer {
    /// Returns the records; none for other answers.
    pub fn rows(&self) -> &[Row] {
        match self {
            Self::Rows { rows, .. } => rows,
            _ => &[],
        }
    }
}

impl Term {
    /// Returns the value that a query looks for, given the answers to the queries before it. `None` if the query finds
    /// nothing.
    pub fn sought(&self, answers: &[Answer]) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Found(query, column) => {
                let row = answers.get(*query)?.rows().first()?;
                row.columns.get(*column).filter(|value| !value.is_null()).cloned()
            }
            Self::Assigned(_) | Self::AssignedText(_) | Self::Now => None,
        }
    }
}

/// A record of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// How often it was written.
    pub version: Version,
    /// The values of all columns, in the order of [`Table::columns`].
    pub columns: Arc<[Value]>,
    /// Its parts, as far as they were read.
    pub body: Body,
}

impl Row {
    /// Returns the values of the primary key.
    pub fn key(&self, table: &Table) -> &[Value] {
        self.columns.get(..table.key).unwrap_or_default()
    }

    /// Returns the record with another value in one column. Its version and its body stay.
    #[must_use]
    pub fn with(&self, column: usize, value: &Value) -> Self {
        let changed = self.columns.iter().enumerate();
        let changed = changed.map(|(place, kept)| if place == column { value } else { kept });
        Self { columns: changed.cloned().collect(), ..self.clone() }
    }

    /// Returns the key of bytes of the record in an index, which begins with `base` and ends with the primary key. `None` if the record is not
    /// in the index, because an indexed column is null.
    pub fn index_key(&self, table: &Table, index: &Index, base: &[u8]) -> Option<Vec<u8>> {
        let indexed = index.columns.iter().filter_map(|column| self.columns.get(*column));
        if indexed.clone().any(Value::is_null) {
            return None;
        }
        let values = indexed.chain(self.key(table));
        let mut key = Vec::with_capacity(base.len() + key_length(values.clone()));
        key.extend_from_slice(base);
        values.for_each(|value| value.append_to(&mut key));
        Some(key)
    }
}

/// The end of a tenant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the log: 1 at first, and one more each time that another begins.
    pub log: u64,
    /// The number of the last entry; 0 while there is none.
    pub size: Seq,
    /// The time of the last entry.
    pub at: Option<Timestamp>,
    /// The commit that appended the last entry.
    pub commit: Option<CommitId>,
}

impl Default for Head {
    /// An empty log.
    fn default() -> Self {
        Self { log: 1, size: Seq(0), at: None, commit: None }
    }
}

/// The identity of a transaction. It stays the same when the transaction is sent again, and no other has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommitId(pub [u8; 16]);

impl CommitId {
    /// The identity that no transaction has.
    pub(crate) const NONE: Self = Self([0; 16]);
}

/// An entry of the log.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number, from 1 without a gap.
    pub seq: Seq,
    /// The time of its commit.
    pub at: Timestamp,
    /// The commit.
    pub commit: CommitId,
    /// What the entry is about, for [`Entries::topic`].
    pub topic: Option<i64>,
    /// A number that the commit assigned.
    pub assigned: Option<u64>,
    /// The record that the entry refers to.
    pub reference: Option<Reference>,
    /// The text of the entry, as part 0.
    pub body: Body,
}

/// A record that an entry of the log refers to.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its table, whose key is a single integer.
    pub table: &'static Table,
    /// Its key.
    pub key: u64,
    /// The record, with its parts; `None` if it is missing. For a [load](super::Backend::load), it is not given.
    pub row: Option<Row>,
}
