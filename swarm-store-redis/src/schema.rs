//! The declared tables: their numbers in calls of scripts, and the keys that a call declares for them.

use swarm_core::StoreError;
use swarm_core::store::Result;
use swarm_core::store::backend::{ColumnKind, Operation, Table};

use crate::keys::Keys;
use crate::msgpack::Writer;

/// The place of the first column in a stored record: its version precedes it, and whether parts are stored elsewhere.
const FIRST_COLUMN: usize = 3;

/// Tables whose records are only looked up by their whole keys, or through an index. The order of their keys is not kept, which
/// costs more memory than most of these records. It can be asked for nevertheless: then all keys are read and sorted.
const UNORDERED: [&str; 6] =
    ["challenges", "reusable_challenges", "takes", "committee_takes", "trees", "tiles"];

/// The declared tables.
#[derive(Clone, Copy)]
pub(crate) struct Schema(&'static [&'static Table]);

/// Some of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableSet(u64);

impl TableSet {
    pub(crate) fn add(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, number: usize) -> bool {
        self.0 & (1 << number) != 0
    }
}

/// The place of a column in a stored record.
pub(crate) fn place_of(column: usize) -> usize {
    FIRST_COLUMN + column
}

impl Schema {
    pub(crate) fn new(tables: &'static [&'static Table]) -> Self {
        Self(tables)
    }

    /// The number of a table, from 1.
    pub(crate) fn number(self, op: Operation, table: &Table) -> Result<usize> {
        let place = self.0.iter().position(|known| *known == table).filter(|place| *place < 63);
        let unknown = || StoreError::misconfigured(op, format!("unknown table: {}", table.name));
        place.map(|place| place + 1).ok_or_else(unknown)
    }

    /// The table with this name.
    pub(crate) fn named(self, name: &[u8]) -> Option<&'static Table> {
        self.0.iter().copied().find(|table| table.name.as_bytes() == name)
    }

    /// All tables, with their numbers.
    pub(crate) fn all(self) -> impl Iterator<Item = (usize, &'static Table)> {
        (1..).zip(self.0.iter().copied())
    }

    /// The tables that entries of the log may refer to.
    pub(crate) fn referred(self) -> impl Iterator<Item = (usize, &'static Table)> {
        let is_integer = |table: &Table| matches!(table.columns.first(), Some(it) if it.kind == ColumnKind::Integer);
        self.all().filter(move |(_, table)| table.key == 1 && is_integer(table))
    }

    /// The numbers of these tables, as an argument.
    pub(crate) fn numbers(self, tables: TableSet) -> Vec<u8> {
        let numbers: Vec<_> =
            self.all().map(|(number, _)| number).filter(|number| tables.has(*number)).collect();
        let mut out = Writer::default();
        out.list(numbers.len());
        for number in numbers {
            out.size(number);
        }
        out.into_bytes()
    }

    /// The keys of a table, in the order in which they are declared.
    pub(crate) fn keys_of(self, keys: &Keys, table: &'static Table) -> Vec<String> {
        let mut names = vec![keys.records(table)];
        if is_ordered(table) {
            names.push(keys.order(table));
        }
        if !table.parts.is_empty() {
            names.push(keys.parts(table));
        }
        names.extend(table.indexes.iter().map(|index| keys.index(index)));
        names
    }

    /// The keys of a call that uses these tables, and the first argument, as `tables.lua` says. The keys of the log come
    /// from `log`.
    pub(crate) fn declare(self, keys: &Keys, log: &Keys, used: TableSet) -> (Vec<String>, Vec<u8>) {
        let mut names = Vec::with_capacity(24);
        names.extend([keys.head(), log.log(), log.topics()]);
        let mut declared = Writer::default();
        declared.list(self.0.len());
        for (number, table) in self.all() {
            if !used.has(number) {
                declared.flag(false);
                continue;
            }
            let mut place = names.len();
            let mut next = |is_there: bool| {
                place += usize::from(is_there);
                if is_there { place } else { 0 }
            };
            declared.list(7).size(next(true)).size(next(is_ordered(table)));
            declared.size(next(!table.parts.is_empty()));
            declared.size(table.key).size(table.columns.len()).size(table.parts.len());
            declared.list(table.indexes.len());
            for index in table.indexes {
                declared.list(index.columns.len() + 2).size(next(true));
                declared.flag(!ends_with_key(table, index.columns));
                for column in index.columns {
                    declared.size(place_of(*column));
                }
            }
            names.extend(self.keys_of(keys, table));
        }
        (names, declared.into_bytes())
    }
}

fn is_ordered(table: &Table) -> bool {
    !UNORDERED.contains(&table.name)
}

/// Whether these columns end with those of the key, which then need not follow them.
fn ends_with_key(table: &Table, columns: &[usize]) -> bool {
    columns.len() >= table.key
        && columns.iter().skip(columns.len() - table.key).copied().eq(0..table.key)
}
