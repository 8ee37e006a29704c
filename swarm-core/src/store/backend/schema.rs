//! The declaration of what a backend stores: tables, their columns and indexes.

use std::hash::{Hash, Hasher};

/// A kind of record. Tables are declared once, as constants, and compared by name.
#[derive(Debug)]
pub struct Table {
    /// The name, of lower-case letters and underscores. It never changes, because backends keep it.
    pub name: &'static str,
    /// The columns. The first [`key`](Self::key) of them are the primary key, and are never null.
    pub columns: &'static [Column],
    /// The number of columns of the primary key.
    pub key: usize,
    /// The texts of the record that no index or check needs, in the order in which they should be stored: those
    /// that may be long come last. A query names the parts that it reads, so that a backend need not read the others.
    pub parts: &'static [&'static str],
    /// The indexes. A record is in an index unless one of the indexed columns is null.
    pub indexes: &'static [Index],
    /// Whether its records are short-lived or derived from others. They are no part of a dump, a tenant with no other
    /// records counts as empty, and a restore keeps them.
    pub is_transient: bool,
}

impl Table {
    /// Returns the position of the column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the positions of the columns that an index is over, or those of the primary key.
    pub fn indexed(&self, index: Option<usize>) -> Vec<usize> {
        match index.and_then(|index| self.indexes.get(index)) {
            Some(index) => index.columns.to_vec(),
            None => (0..self.key).collect(),
        }
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.name == other.name
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// A column: a value of a record that an index, a check or a reader of the database needs.
#[derive(Debug)]
pub struct Column {
    /// The name, of lower-case letters and underscores.
    pub name: &'static str,
    /// The type of its values, which may also be null.
    pub kind: ColumnKind,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed integer of 64 bits.
    Integer,
    /// A point in time, as a [`Value::Integer`](super::Value::Integer): milliseconds since 1970, negative before.
    Time,
    /// UTF-8 text of any length, which may contain U+0000. It is ordered by its bytes.
    Text,
    /// Bytes, ordered as such.
    Bytes,
}

/// An index: records in the order of some columns, then of their primary key.
#[derive(Debug)]
pub struct Index {
    /// The name, of lower-case letters and underscores, unique in its table.
    pub name: &'static str,
    /// The positions of the columns, at most four.
    pub columns: &'static [usize],
    /// Whether no two records have the same values. Transactions check this themselves, so a backend that finds two
    /// has found a fault.
    pub is_unique: bool,
}
