//! An approximate LRU cache with a bound in bytes.

use std::collections::HashMap;
use std::hash::Hash;

/// The maximum size of a generation in bytes. There are two generations.
const MAX_GENERATION_BYTES: usize = 16 << 20;

/// The approximate memory use of a value with its key.
pub(super) trait Bytes {
    fn bytes(&self) -> usize;
}

/// A cache of two generations. An entry that is used moves to the younger one. When that is full,
/// it replaces the older one, which is evicted.
pub(super) struct Recent<K, V> {
    younger: HashMap<K, V>,
    older: HashMap<K, V>,
    /// The size of the younger generation.
    bytes: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { younger: HashMap::new(), older: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + Hash, V: Bytes> Recent<K, V> {
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        // Skip the second lookup while there is no older generation.
        if !self.older.is_empty()
            && let Some((key, value)) = self.older.remove_entry(key)
        {
            self.put(key, value);
        }
        self.younger.get_mut(key)
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        self.remove(&key);
        let bytes = value.bytes();
        if self.bytes + bytes > MAX_GENERATION_BYTES {
            self.older = std::mem::take(&mut self.younger);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.younger.insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.older.remove(key);
        if let Some(value) = self.younger.remove(key) {
            self.bytes = self.bytes.saturating_sub(value.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tenth(usize);

    impl Bytes for Tenth {
        fn bytes(&self) -> usize {
            MAX_GENERATION_BYTES / 10
        }
    }

    #[test]
    fn used_entries_stay_and_others_are_evicted() {
        let mut recent = Recent::default();
        for key in 0..1_000 {
            recent.put(key, Tenth(key));
            assert_eq!(recent.get(&0).map(|value| value.0), Some(0));
            assert_eq!(recent.get(&key).map(|value| value.0), Some(key));
            assert!(recent.younger.len() <= 10 && recent.older.len() <= 10);
        }
        assert!(recent.get(&500).is_none());
    }

    #[test]
    fn replaced_entry_is_counted_once() {
        let mut recent = Recent::default();
        recent.put(0, Tenth(0));
        for value in 0..1_000 {
            recent.put(1, Tenth(value));
        }
        assert!(recent.older.is_empty());
        recent.remove(&1);
        recent.remove(&0);
        assert_eq!(recent.bytes, 0);
        assert!(recent.get(&1).is_none());
    }
}
