//! Which answers are worth a slot, and slots for some of them, within a number of bytes.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use hashlink::LinkedHashMap;
use swarm_core::TenantId;

/// The size in bytes from which an answer is made apart from other requests, and has a slot at once.
pub(super) const LARGE: usize = 16 << 10;

/// The capacity in bytes; the compressed form of an answer counts as half its size.
const CAPACITY: usize = 64 << 20;

/// The overhead counted for each cached answer, in bytes: its question, its headers.
const OVERHEAD: usize = 2 << 10;

/// The longest question that gets a slot, in bytes.
const LONGEST: usize = 512;

/// How many paths are remembered, and how many questions that were asked once.
const REMEMBERED: usize = 10_000;

/// What is asked: of whom, where, and with which query.
#[derive(Debug)]
pub(crate) struct Question {
    /// The tenant, the path, the query: `acme /api/swarm/log?after=1`.
    text: String,
    /// Where the path ends.
    path: usize,
}

impl Question {
    pub(crate) fn new(tenant: &TenantId, path: &str, query: &str) -> Self {
        let tenant = tenant.as_str();
        let text = [tenant, " ", path, "?", query].concat();
        Self { text, path: tenant.len() + 1 + path.len() }
    }

    /// Without the query.
    fn path(&self) -> &str {
        self.text.get(..self.path).unwrap_or(&self.text)
    }

    fn is_long(&self) -> bool {
        self.text.len() > LONGEST
    }
}

/// Where an answer is cached.
#[derive(Clone, Default)]
pub(super) struct Place<P> {
    pub(super) slot: P,
    /// Whether the answer was large when it was made last, or others at its path were.
    pub(super) is_large: bool,
}

pub(super) struct Lru<P> {
    /// By question, the least recently used first.
    entries: LinkedHashMap<String, Entry<P>, RandomState>,
    bytes: usize,
    /// Where large answers were seen, whatever the query was.
    large: HashSet<Box<str>>,
    /// The hashes of questions that were asked before.
    asked: HashSet<u64>,
}

struct Entry<P> {
    place: Place<P>,
    bytes: usize,
}

impl<P> Default for Lru<P> {
    fn default() -> Self {
        let entries = LinkedHashMap::with_hasher(RandomState::new());
        Self { entries, bytes: 0, large: HashSet::new(), asked: HashSet::new() }
    }
}

impl<P: Clone + Default> Lru<P> {
    /// The place of a question. It gets one when it is asked for the second time, since most are
    /// asked only once; at once, where answers at its path were large.
    pub(super) fn place(&mut self, question: &Question) -> Option<Place<P>> {
        if let Some(entry) = self.entries.to_back(question.text.as_str()) {
            return Some(entry.place.clone());
        }
        if question.is_long() {
            return None;
        }
        let is_large = self.large.contains(question.path());
        if !is_large && self.is_first(question) {
            return None;
        }
        let place = Place { slot: P::default(), is_large };
        let entry = Entry { place: place.clone(), bytes: OVERHEAD };
        self.entries.insert(question.text.clone(), entry);
        self.bytes += OVERHEAD;
        self.evict();
        Some(place)
    }

    /// Whether it is asked for the first time, as far as is remembered.
    fn is_first(&mut self, question: &Question) -> bool {
        if self.asked.len() >= REMEMBERED {
            self.asked.clear();
        }
        self.asked.insert(self.entries.hasher().hash_one(&question.text))
    }

    /// The answer to this question takes this many bytes. It may have no place: then it is only
    /// remembered where answers are large.
    pub(super) fn set_size(&mut self, question: &Question, bytes: usize) {
        let is_large = bytes >= LARGE;
        if is_large && !question.is_long() {
            self.mark_large(question);
        }
        let Some(entry) = self.entries.get_mut(question.text.as_str()) else { return };
        entry.place.is_large = is_large;
        let bytes = OVERHEAD + bytes + bytes / 2;
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
        self.evict();
    }

    fn mark_large(&mut self, question: &Question) {
        if self.large.contains(question.path()) {
            return;
        }
        if self.large.len() >= REMEMBERED {
            self.large.clear();
        }
        self.large.insert(question.path().into());
    }

    /// Evicts the least recently used answers until the rest fits.
    fn evict(&mut self) {
        while self.bytes > CAPACITY {
            let Some((_, entry)) = self.entries.pop_front() else { return };
            self.bytes -= entry.bytes;
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
    fn what_was_large_once_has_a_place_at_once_and_all_else_when_asked_again() {
        let mut lru = Lru::<Arc<()>>::default();
        let (small, large) = (question("/small", ""), question("/large", ""));
        lru.set_size(&small, LARGE - 1);
        lru.set_size(&large, LARGE);
        assert!(lru.place(&small).is_none());
        assert!(!lru.place(&small).unwrap().is_large);
        let place = lru.place(&large).unwrap();
        assert!(place.is_large);
        assert!(Arc::ptr_eq(&place.slot, &lru.place(&large).unwrap().slot));
        let paged = lru.place(&question("/large", "after=1")).unwrap();
        assert!(!Arc::ptr_eq(&place.slot, &paged.slot));
        for _ in 0..2 {
            assert!(lru.place(&question("/large", &"x".repeat(LONGEST))).is_none());
        }
        let other = Question::new(&TenantId::parse("bolt").unwrap(), "/large", "");
        assert!(lru.place(&other).is_none());
        lru.set_size(&small, LARGE);
        assert!(lru.place(&small).unwrap().is_large);
        lru.set_size(&large, LARGE - 1);
        assert!(!lru.place(&large).unwrap().is_large);
    }

    #[test]
    fn what_was_not_used_longest_goes_first() {
        let mut lru = Lru::<Arc<()>>::default();
        let questions: Vec<_> = (0..4).map(|n| question("/large", &n.to_string())).collect();
        lru.set_size(&questions[0], LARGE);
        for question in &questions {
            lru.place(question);
            lru.set_size(question, CAPACITY / 5);
            lru.place(&questions[0]);
        }
        assert!(lru.bytes <= CAPACITY);
        let cached: Vec<_> =
            questions.iter().map(|it| lru.entries.contains_key(it.text.as_str())).collect();
        assert_eq!(cached, [true, false, true, true]);
        // An answer larger than the whole capacity is not cached.
        lru.set_size(&questions[0], CAPACITY);
        assert_eq!((lru.entries.len(), lru.bytes), (0, 0));
    }
}
