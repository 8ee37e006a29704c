//! The declared tables: what their records and indexes are called within the keys of a tenant.

use swarm_core::StoreError;
use swarm_core::store::Result;
use swarm_core::store::backend::{ColumnKind, Index, Operation, Table};

/// Tables whose records are only looked up by their whole keys, or through an index. The order of their keys is not kept, which
/// costs more memory than most of these records: no query may ask for it.
const UNORDERED: [&str; 6] =
    ["challenges", "reusable_challenges", "takes", "committee_takes", "trees", "tiles"];

/// Indexes in which only all values together are looked up. They are fields of the hash, whose names have a digest of the values.
/// That needs less memory than an order, but no query may ask for a range. These values of a record never change, so its
/// parts refer to them instead of repeating them.
const LOOKED_UP: [&str; 2] = ["takes_by_nonce", "committee_takes_by_attempt"];

/// What precedes the entries of the log about a topic, in the order.
pub(crate) const TOPICS: Code = code("log_by_topic");

/// What stands for the name of a table or an index.
pub(crate) type Code = [u8; 2];

/// Returns the code of a name: a hash of it, so it does not depend on the other names.
pub(crate) const fn code(name: &str) -> Code {
    let (bytes, mut hash, mut at) = (name.as_bytes(), 0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    let [a, b, c, d] = hash.to_be_bytes();
    [a ^ c, b ^ d]
}

/// The declared tables.
#[derive(Clone, Copy)]
pub(crate) struct Schema(&'static [&'static Table]);

impl Schema {
    /// # Errors
    /// If two names have the same code.
    pub(crate) fn new(op: Operation, tables: &'static [&'static Table]) -> Result<Self> {
        let indexes = tables.iter().flat_map(|table| table.indexes).map(|index| code(index.name));
        let tables_and_indexes = tables.iter().map(|table| code(table.name)).chain(indexes);
        let mut codes: Vec<_> = tables_and_indexes.chain([TOPICS]).collect();
        codes.sort_unstable();
        if codes.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(StoreError::misconfigured(op, "two tables or indexes have the same code"));
        }
        Ok(Self(tables))
    }

    /// The table with this code, if entries of the log may refer to its records.
    pub(crate) fn referred(self, sought: &[u8]) -> Option<&'static Table> {
        let is_integer = |table: &Table| matches!(table.columns.first(), Some(it) if it.kind == ColumnKind::Integer);
        let referred = self.0.iter().filter(|table| table.key == 1 && is_integer(table));
        referred.copied().find(|table| code(table.name) == sought)
    }
}

/// Whether the order of the keys of a table is kept.
pub(crate) fn is_ordered(table: &Table) -> bool {
    !UNORDERED.contains(&table.name)
}

/// Whether an index is only looked up.
pub(crate) fn is_looked_up(index: &Index) -> bool {
    index.is_unique && LOOKED_UP.contains(&index.name)
}

/// Whether the columns of an index end with those of the key, which then need not follow them.
pub(crate) fn ends_with_key(table: &Table, index: &Index) -> bool {
    let columns = index.columns;
    columns.len() >= table.key
        && columns.iter().skip(columns.len() - table.key).copied().eq(0..table.key)
}
