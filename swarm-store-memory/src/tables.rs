//! The tables and the log of one tenant, on ordered maps.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use slab::Slab;
use swarm_core::domain::Seq;
use swarm_core::store::Result;
use swarm_core::store::backend::engine::{Scan, Tables, TablesMut};
use swarm_core::store::backend::{
    CommitId, Entries, Entry, Head, PartSet, Row, Table, Value, key_of,
};

/// The records of a tenant.
#[derive(Clone, Default)]
pub(crate) struct TenantTables {
    tables: Vec<(&'static Table, TableRows)>,
    sequences: HashMap<&'static str, u64>,
    /// The number of the log; 0 until something is appended.
    log: u64,
    /// Entry number `n` is at index `n - 1`.
    entries: Vec<Entry>,
    /// The indexes of the entries about each topic.
    topics: BTreeMap<i64, Vec<usize>>,
}

/// The records of a table, each once, and where they are by keys of bytes.
#[derive(Clone, Default)]
struct TableRows {
    rows: Slab<Row>,
    by_key: Places,
    /// For each index: its columns, then the primary key.
    indexes: Vec<Places>,
}

/// The places of records among all of a table.
type Places = BTreeMap<Box<[u8]>, usize>;

impl TenantTables {
    /// Returns whether the tenant has no records other than transient ones.
    pub(crate) fn is_empty(&self) -> bool {
        let used = self.tables.iter().filter(|(table, _)| !table.is_transient);
        self.entries.is_empty()
            && self.sequences.is_empty()
            && used.into_iter().all(|(_, rows)| rows.rows.is_empty())
    }

    /// Moves the records of `other` here, where none of these tables has any.
    pub(crate) fn extend(&mut self, other: Self) {
        let Self { tables, sequences, log, entries, topics } = other;
        let names: BTreeSet<_> = tables.iter().map(|(table, _)| table.name).collect();
        self.tables.retain(|(table, _)| !names.contains(table.name));
        self.tables.extend(tables);
        (self.sequences, self.log, self.entries, self.topics) = (sequences, log, entries, topics);
    }

    fn table(&self, table: &'static Table) -> Option<&TableRows> {
        self.tables.iter().find(|(known, _)| *known == table).map(|(_, rows)| rows)
    }

    fn table_mut(&mut self, table: &'static Table) -> &mut TableRows {
        let place = self.tables.iter().position(|(known, _)| *known == table);
        let place = place.unwrap_or_else(|| {
            let indexes = vec![Places::new(); table.indexes.len()];
            self.tables.push((table, TableRows { indexes, ..TableRows::default() }));
            self.tables.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed above")]
        &mut self.tables[place].1
    }
}

impl TableRows {
    fn get(&self, key: &[Value]) -> Option<&Row> {
        self.rows.get(*self.by_key.get(&*key_of(key))?)
    }

    fn insert(&mut self, table: &'static Table, row: Row) {
        let entry = self.rows.vacant_entry();
        let place = entry.key();
        for (index, places) in table.indexes.iter().zip(&mut self.indexes) {
            if let Some(key) = row.index_key(table, index, &[]) {
                places.insert(key.into(), place);
            }
        }
        self.by_key.insert(key_of(row.key(table)).into(), place);
        entry.insert(row);
    }

    /// Replaces the record with the key of `old` by what `change` makes of it, which has the same key.
    fn change(&mut self, table: &'static Table, old: &Row, change: impl FnOnce(&Row) -> Row) {
        let place = self.by_key.get(&*key_of(old.key(table))).copied();
        let Some((place, row)) = place.and_then(|place| Some((place, self.rows.get_mut(place)?)))
        else {
            return;
        };
        let changed = change(row);
        for (index, places) in table.indexes.iter().zip(&mut self.indexes) {
            let differs = |column: &usize| row.columns.get(*column) != changed.columns.get(*column);
            if index.columns.iter().any(differs) {
                if let Some(key) = row.index_key(table, index, &[]) {
                    places.remove(&*key);
                }
                if let Some(key) = changed.index_key(table, index, &[]) {
                    places.insert(key.into(), place);
                }
            }
        }
        *row = changed;
    }

    fn remove(&mut self, table: &'static Table, row: &Row) {
        for (index, places) in table.indexes.iter().zip(&mut self.indexes) {
            if let Some(key) = row.index_key(table, index, &[]) {
                places.remove(&*key);
            }
        }
        if let Some(place) = self.by_key.remove(&*key_of(row.key(table))) {
            self.rows.try_remove(place);
        }
    }
}

/// Passes records to a function until it returns false.
fn pass<'a>(
    found: impl Iterator<Item = &'a Row>,
    each: &mut dyn FnMut(Row) -> Result<bool>,
) -> Result<()> {
    for row in found {
        if !each(row.clone())? {
            break;
        }
    }
    Ok(())
}

/// The log and the sequences are no tables here: a vector and a map take less memory and time.
impl Tables for TenantTables {
    fn declared(&self) -> &[&'static Table] {
        &[]
    }

    fn row(&self, table: &'static Table, key: &[Value], _: PartSet) -> Result<Option<Row>> {
        Ok(self.table(table).and_then(|rows| rows.get(key)).cloned())
    }

    fn scan(&self, scan: &Scan<'_>, each: &mut dyn FnMut(Row) -> Result<bool>) -> Result<()> {
        let Some(table) = self.table(scan.table) else { return Ok(()) };
        let places = match scan.index {
            Some(index) => table.indexes.get(index),
            None => Some(&table.by_key),
        };
        let (Some(places), Some(bounds)) = (places, scan.bounds(Vec::new())) else { return Ok(()) };
        let (low, high) = (bounds.low(), bounds.high());
        let row = |place: &usize| table.rows.get(*place);
        // Each map is searched for one end of the range alone, because most ranges have few records.
        if scan.is_descending {
            let below = places.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(high))).rev();
            pass(
                below.take_while(|(key, _)| &***key >= low).filter_map(|(_, place)| row(place)),
                each,
            )
        } else {
            let above = places.range::<[u8], _>((Bound::Included(low), Bound::Unbounded));
            pass(
                above.take_while(|(key, _)| &***key < high).filter_map(|(_, place)| row(place)),
                each,
            )
        }
    }

    fn sequence(&self, name: &str) -> Result<u64> {
        Ok(self.sequences.get(name).copied().unwrap_or(0))
    }

    fn head(&self) -> Result<Head> {
        let last = self.entries.last();
        Ok(Head {
            log: self.log.max(1),
            size: last.map_or(Seq(0), |last| last.seq),
            at: last.map(|last| last.at),
            commit: last.map(|last| last.commit),
        })
    }

    fn commit_of(&self, seq: Seq) -> Result<Option<CommitId>> {
        let place = usize::try_from(seq.0).ok().and_then(|seq| seq.checked_sub(1));
        Ok(place.and_then(|place| self.entries.get(place)).map(|entry| entry.commit))
    }

    fn entries(&self, entries: &Entries) -> Result<Vec<Entry>> {
        let Entries { topic, after, limit, .. } = entries;
        let after = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(match topic {
            None => self.entries.iter().skip(after).take(*limit).cloned().collect(),
            Some(topic) => {
                let places = self.topics.get(topic).into_iter().flatten();
                let places = places.filter(|place| **place >= after).take(*limit);
                places.filter_map(|place| self.entries.get(*place).cloned()).collect()
            }
        })
    }
}

impl TablesMut for TenantTables {
    fn insert(&mut self, table: &'static Table, row: Row) -> Result<()> {
        self.table_mut(table).insert(table, row);
        Ok(())
    }

    fn set(&mut self, table: &'static Table, old: &Row, column: usize, value: Value) -> Result<()> {
        self.table_mut(table).change(table, old, |row| row.with(column, &value));
        Ok(())
    }

    fn replace(&mut self, table: &'static Table, old: &Row, row: Row) -> Result<()> {
        self.table_mut(table).change(table, old, |_| row);
        Ok(())
    }

    fn remove(&mut self, table: &'static Table, old: &Row) -> Result<()> {
        self.table_mut(table).remove(table, old);
        Ok(())
    }

    fn set_sequence(&mut self, name: &'static str, number: u64) -> Result<()> {
        self.sequences.insert(name, number);
        Ok(())
    }

    fn append(&mut self, log: u64, entries: Vec<Entry>) -> Result<()> {
        self.log = log;
        for entry in &entries {
            if let Some(topic) = entry.topic {
                let place = usize::try_from(entry.seq.0.saturating_sub(1)).unwrap_or(usize::MAX);
                self.topics.entry(topic).or_default().push(place);
            }
        }
        self.entries.extend(entries);
        Ok(())
    }
}
