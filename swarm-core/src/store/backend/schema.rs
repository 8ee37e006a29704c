//! The declaration of what a backend stores: tables, their columns and indexes.

use std::hash::{Hash, Hasher};

use super::{Body, Value};

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
    /// The part that a query reads of some records only if it asks for that.
    pub veiled: Option<Veil>,
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

    /// Returns what decides whether a query for these parts reads this one; `None` if it does in any case.
    pub fn veil_of(&self, part: usize, parts: PartSet) -> Option<&Veil> {
        self.veiled.as_ref().filter(|veil| veil.part == part && !parts.has_veiled())
    }

    /// Returns the body of a record with these columns as a query for these parts gets it: for a backend on a server, which has
    /// left out the part that is veiled. The [`engine`](super::engine) does it for the others.
    pub fn read_body(&self, columns: &[Value], parts: PartSet, body: Body) -> Body {
        let is_null = |column: usize| columns.get(column).is_none_or(Value::is_null);
        let veil = self.veiled.as_ref().and_then(|veil| self.veil_of(veil.part, parts));
        let is_left_out = |veil: &Veil| {
            parts.has(veil.part) && !is_null(veil.having) && body.part(veil.part).is_none()
        };
        if veil.is_some_and(is_left_out) { body.veiled() } else { body }
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

/// A part that is veiled in some records until another record says otherwise. A query that does not ask for veiled parts
/// ([`PartSet::has_veiled`]) gets a [`Body::veiled`](super::Body::veiled) there. A backend that keeps texts should not read the
/// part then, so that a query does not take longer if it is long.
#[derive(Debug)]
pub struct Veil {
    /// The position of the part, which records that it is veiled in always have.
    pub part: usize,
    /// Only records in which the column with this position is not null.
    pub having: usize,
    /// The position of the column that has the key of the other record.
    pub key: usize,
    /// The other table. Its key is a single column.
    pub table: &'static Table,
    /// The position of the column of the other record that is null as long as the part is veiled.
    pub until: usize,
}

/// The parts of a record that a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartSet(u32);

impl PartSet {
    /// All parts, also a [veiled](super::Veil) one.
    pub const ALL: Self = Self(u32::MAX);
    /// All parts, but for a [veiled](super::Veil) one.
    pub const SHOWN: Self = Self(u32::MAX >> 1);
    /// No part.
    pub const NONE: Self = Self(0);

    /// The parts with these positions, which are lower than 31.
    pub const fn of(positions: &[usize]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < positions.len() {
            set |= 1 << positions[at];
            at += 1;
        }
        Self(set)
    }

    /// Returns whether it has a part also where that is [veiled](super::Veil).
    pub fn has_veiled(self) -> bool {
        self.has(31)
    }

    /// Returns whether it has the part with this position.
    pub fn has(self, position: usize) -> bool {
        u32::try_from(position)
            .is_ok_and(|position| self.0.checked_shr(position).unwrap_or(0) & 1 == 1)
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
    /// UTF-8 text of any length, unless a key or an index has it (see the [module](super)). It may contain U+0000, and is ordered by its
    /// bytes.
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
