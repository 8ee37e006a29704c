//! Which questions have large answers, and slots for some of these, within a number of bytes.

use std::collections::{HashMap, HashSet};

use swarm_core::TenantId;

/// The size in bytes from which caching pays: a smaller answer costs no more than asking for the
/// size of the log.
const LARGE: usize = 16 << 10;

/// The capacity in bytes; the compressed form of an answer counts as half its size.
const CAPACITY: usize = 64 << 20;

/// The overhead counted for each cached answer, in bytes.
const OVERHEAD: usize = 1 << 10;

/// The longest question that gets a slot, in bytes.
const LONGEST: usize = 512;

/// How many paths are remembered.
const PATHS: usize = 10_000;

/// What is asked: of whom, where, and with which query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    tenant: TenantId,
    path: String,
    query: String,
}

impl Question {
    pub(crate) fn new(tenant: &TenantId, path: &str, query: &str) -> Self {
        Self { tenant: tenant.clone(), path: path.to_owned(), query: query.to_owned() }
    }

    fn is_long(&self) -> bool {
        self.path.len() + self.query.len() > LONGEST
    }
}

#[derive(Default)]
pub(super) struct Lru<P> {
    /// Where large answers were seen, whatever the query was.
    large: HashSet<(TenantId, String)>,
    entries: HashMap<Question, Entry<P>>,
    bytes: usize,
    uses: u64,
}

struct Entry<P> {
    slot: P,
    bytes: usize,
    /// The number of its last use: uses are counted.
    used: u64,
}

impl<P: Clone + Default> Lru<P> {
    /// The slot of a question; `None` where its answer is not known to be large.
    pub(super) fn slot(&mut self, question: &Question) -> Option<P> {
        let path = (question.tenant.clone(), question.path.clone());
        if question.is_long() || !self.large.contains(&path) {
            return None;
        }
        self.uses += 1;
        if !self.entries.contains_key(question) {
            let entry = Entry { slot: P::default(), bytes: OVERHEAD, used: self.uses };
            self.entries.insert(question.clone(), entry);
            self.bytes += OVERHEAD;
            self.evict();
        }
        let entry = self.entries.get_mut(question)?;
        entry.used = self.uses;
        Some(entry.slot.clone())
    }

    /// Remembers that a question has an answer of so many bytes, where that is large.
    pub(super) fn mark_large(&mut self, question: &Question, bytes: usize) {
        if bytes < LARGE || question.is_long() {
            return;
        }
        if self.large.len() >= PATHS {
            self.large.clear();
        }
        self.large.insert((question.tenant.clone(), question.path.clone()));
    }

    /// The answer to this question now takes this many bytes.
    pub(super) fn set_size(&mut self, question: &Question, bytes: usize) {
        let Some(entry) = self.entries.get_mut(question) else { return };
        let bytes = OVERHEAD + bytes + bytes / 2;
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
        self.evict();
    }

    /// Evicts the least recently used answers until the rest fits.
    fn evict(&mut self) {
        while self.bytes > CAPACITY {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(question) = oldest.map(|(question, _)| question.clone()) else { return };
            self.bytes -= self.entries.remove(&question).map_or(0, |entry| entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn question(path: &str, query: &str) -> Question {
        Question::new(&TenantId::parse("acme").unwrap(), path, query)
    }

    #[test]
    fn only_what_was_large_once_has_a_place() {
        let mut lru = Lru::<Arc<()>>::default();
        let (small, large) = (question("/small", ""), question("/large", ""));
        lru.mark_large(&small, LARGE - 1);
        lru.mark_large(&large, LARGE);
        assert!(lru.slot(&small).is_none());
        let slot = lru.slot(&large).unwrap();
        assert!(Arc::ptr_eq(&slot, &lru.slot(&large).unwrap()));
        let paged = lru.slot(&question("/large", "after=1")).unwrap();
        assert!(!Arc::ptr_eq(&slot, &paged));
        assert!(lru.slot(&question("/large", &"x".repeat(LONGEST))).is_none());
        let other = Question::new(&TenantId::parse("bolt").unwrap(), "/large", "");
        assert!(lru.slot(&other).is_none());
    }

    #[test]
    fn what_was_not_used_longest_goes_first() {
        let mut lru = Lru::<Arc<()>>::default();
        let questions: Vec<_> = (0..4).map(|n| question("/large", &n.to_string())).collect();
        lru.mark_large(&questions[0], LARGE);
        for question in &questions {
            lru.slot(question);
            lru.set_size(question, CAPACITY / 5);
            lru.slot(&questions[0]);
        }
        assert!(lru.bytes <= CAPACITY);
        let cached: Vec<_> = questions.iter().map(|it| lru.entries.contains_key(it)).collect();
        assert_eq!(cached, [true, false, true, true]);
        // An answer larger than the whole capacity is not cached.
        lru.set_size(&questions[0], CAPACITY);
        assert_eq!((lru.entries.len(), lru.bytes), (0, 0));
    }
}
