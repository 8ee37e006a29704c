//! The tables of the keys that sign again and again.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::multiples::KeyTable;
use super::{holds, holds_by};
use crate::domain::{PublicKey, Signature};

/// Tables of multiples of public keys, with which a verification takes half the time. They never
/// change what it says.
///
/// A table takes 15 KiB, and the time of four or five verifications to make. So only a key with
/// which a take was [accepted](Self::note_accepted) before gets one, and no more than `capacity` keys
/// are known: the least recently accepted goes first. Strangers, who cannot have a take accepted, neither make this
/// grow nor push a member's table out, and nothing that is refused moves anything.
///
/// One serves all tenants and threads. Its lock is held to look a key up, never to compute.
pub struct KeyTables {
    capacity: usize,
    known: Mutex<Known>,
}

impl KeyTables {
    /// Tables for so many keys at most. With 0 there are none.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, known: Mutex::default() }
    }

    /// What [`holds`] says, by the table of the key where it is known.
    pub fn holds(&self, message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
        let table = self.known().table(key);
        match table {
            Some(table) => {
                holds_by(table.get_or_init(|| KeyTable::of(key)), message, signature, key)
            }
            None => holds(message, signature, key),
        }
    }

    /// A take that is signed with this registered key was accepted.
    pub fn note_accepted(&self, key: &PublicKey) {
        self.known().note_accepted(*key.as_bytes(), self.capacity);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for KeyTables {
    /// Tables for 10,240 keys at most: 150 MiB when so many members have filed two takes each.
    fn default() -> Self {
        Self::new(10_240)
    }
}

impl fmt::Debug for KeyTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTables").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// The keys with which takes were accepted.
#[derive(Default)]
struct Known {
    keys: HashMap<[u8; 32], Entry>,
    /// The keys by the number of their last take.
    by_last: BTreeMap<u64, [u8; 32]>,
    /// How many takes were accepted.
    takes: u64,
}

/// A key with which a take was accepted.
#[derive(Default)]
struct Entry {
    /// The number of the last one.
    last: u64,
    /// Made when it is first asked for: for the second take.
    table: Table,
}

type Table = Arc<OnceLock<KeyTable>>;

impl Known {
    fn table(&self, key: &PublicKey) -> Option<Table> {
        self.keys.get(key.as_bytes()).map(|known| Arc::clone(&known.table))
    }

    fn note_accepted(&mut self, key: [u8; 32], capacity: usize) {
        self.takes += 1;
        let known = self.keys.entry(key).or_default();
        self.by_last.remove(&known.last);
        known.last = self.takes;
        self.by_last.insert(known.last, key);
        if self.keys.len() > capacity {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.by_last.pop_first();
        oldest.and_then(|(_, key)| self.keys.remove(&key));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::thread;

    use super::*;
    use crate::proof::KeyPair;

    fn key(number: u8) -> PublicKey {
        PublicKey::parse(&KeyPair::from_seed(&[number; 32]).public_key()).unwrap()
    }

    /// Which of these keys are known, and whether their tables are made.
    fn known<const N: usize>(tables: &KeyTables, keys: [u8; N]) -> [Option<bool>; N] {
        keys.map(|number| tables.known().table(&key(number)).map(|table| table.get().is_some()))
    }

    fn verify(tables: &KeyTables, number: u8) -> bool {
        tables.holds(b"", &Signature::parse("").unwrap(), &key(number))
    }

    #[test]
    fn a_key_has_a_table_from_its_second_take_on() {
        let tables = KeyTables::new(2);
        assert!(!verify(&tables, 1));
        assert_eq!(known(&tables, [1]), [None]);
        tables.note_accepted(&key(1));
        assert_eq!(known(&tables, [1]), [Some(false)]);
        assert!(!verify(&tables, 1));
        assert_eq!(known(&tables, [1, 2]), [Some(true), None]);
    }

    #[test]
    fn the_least_recently_accepted_goes_first_whoever_tries_in_vain() {
        let tables = KeyTables::new(2);
        for accepted in [1, 2, 1] {
            tables.note_accepted(&key(accepted));
        }
        for refused in [2, 3, 4] {
            assert!(!verify(&tables, refused));
        }
        assert_eq!(known(&tables, [1, 2, 3, 4]), [Some(false), Some(true), None, None]);
        tables.note_accepted(&key(3));
        assert_eq!(known(&tables, [1, 2, 3, 4]), [Some(false), None, Some(false), None]);
        let counted = tables.known();
        assert_eq!((counted.keys.len(), counted.by_last.len()), (2, 2));
    }

    #[test]
    fn without_capacity_no_key_is_known() {
        let tables = KeyTables::new(0);
        tables.note_accepted(&key(1));
        assert_eq!(known(&tables, [1]), [None]);
    }

    #[test]
    fn what_is_printed_of_them_tells_no_key() {
        let tables = KeyTables::new(2);
        tables.note_accepted(&key(1));
        assert_eq!(format!("{tables:?}"), "KeyTables { capacity: 2, .. }");
    }

    #[test]
    fn threads_share_one_table() {
        let tables = KeyTables::default();
        tables.note_accepted(&key(1));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(!verify(&tables, 1)));
                scope.spawn(|| tables.note_accepted(&key(1)));
            }
        });
        assert_eq!(known(&tables, [1]), [Some(true)]);
    }
}
