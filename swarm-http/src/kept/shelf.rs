//! Which questions have large answers, and places for some of these, within a number of bytes.

use std::collections::{HashMap, HashSet};

use swarm_core::TenantId;
use swarm_core::domain::Seq;

/// The size in bytes from which caching pays: a smaller answer costs no more than asking for the
/// size of the log.
const LARGE: usize = 16 << 10;

/// The capacity in bytes; the compressed form of an answer counts as half its size.
const ROOM: usize = 64 << 20;

/// The overhead counted for each cached answer, in bytes.
const PLACE: usize = 1 << 10;

/// The longest question that gets a place, in bytes.
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

/// The size of a log, and how often it was seen to shrink: after a restore from a backup, the same
/// size may stand for other content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogState {
    times_back: u64,
    size: Seq,
}

#[derive(Default)]
pub(super) struct Shelf<P> {
    /// Where large answers were seen, whatever the query was.
    large: HashSet<(TenantId, String)>,
    slots: HashMap<Question, Slot<P>>,
    /// The last known state of each tenant's log.
    logs: HashMap<TenantId, LogState>,
    bytes: usize,
    uses: u64,
}

struct Slot<P> {
    place: P,
    bytes: usize,
    /// The number of its last use: uses are counted.
    used: u64,
}

impl<P: Clone + Default> Shelf<P> {
    /// The place of a question; `None` where its answer is not known to be large.
    pub(super) fn place(&mut self, question: &Question) -> Option<P> {
        let path = (question.tenant.clone(), question.path.clone());
        if question.is_long() || !self.large.contains(&path) {
            return None;
        }
        self.uses += 1;
        if !self.slots.contains_key(question) {
            let slot = Slot { place: P::default(), bytes: PLACE, used: self.uses };
            self.slots.insert(question.clone(), slot);
            self.bytes += PLACE;
            self.make_room();
        }
        let slot = self.slots.get_mut(question)?;
        slot.used = self.uses;
        Some(slot.place.clone())
    }

    /// Remembers that a question has an answer of so many bytes, where that is large.
    pub(super) fn note(&mut self, question: &Question, bytes: usize) {
        if bytes < LARGE || question.is_long() {
            return;
        }
        if self.large.len() >= PATHS {
            self.large.clear();
        }
        self.large.insert((question.tenant.clone(), question.path.clone()));
    }

    /// The log of the tenant that is asked has this size.
    pub(super) fn see(&mut self, question: &Question, size: Seq) -> LogState {
        let log = self.logs.entry(question.tenant.clone()).or_default();
        log.times_back += u64::from(size < log.size);
        log.size = size;
        *log
    }

    /// The answer to this question now takes this many bytes.
    pub(super) fn settle(&mut self, question: &Question, bytes: usize) {
        let Some(slot) = self.slots.get_mut(question) else { return };
        let bytes = PLACE + bytes + bytes / 2;
        self.bytes = self.bytes - slot.bytes + bytes;
        slot.bytes = bytes;
        self.make_room();
    }

    /// Evicts the least recently used answers until the rest fits.
    fn make_room(&mut self) {
        while self.bytes > ROOM {
            let oldest = self.slots.iter().min_by_key(|(_, slot)| slot.used);
            let Some(question) = oldest.map(|(question, _)| question.clone()) else { return };
            self.bytes -= self.slots.remove(&question).map_or(0, |slot| slot.bytes);
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
        let mut shelf = Shelf::<Arc<()>>::default();
        let (small, large) = (question("/small", ""), question("/large", ""));
        shelf.note(&small, LARGE - 1);
        shelf.note(&large, LARGE);
        assert!(shelf.place(&small).is_none());
        let place = shelf.place(&large).unwrap();
        assert!(Arc::ptr_eq(&place, &shelf.place(&large).unwrap()));
        let paged = shelf.place(&question("/large", "after=1")).unwrap();
        assert!(!Arc::ptr_eq(&place, &paged));
        assert!(shelf.place(&question("/large", &"x".repeat(LONGEST))).is_none());
        let other = Question::new(&TenantId::parse("bolt").unwrap(), "/large", "");
        assert!(shelf.place(&other).is_none());
    }

    #[test]
    fn what_was_not_used_longest_goes_first() {
        let mut shelf = Shelf::<Arc<()>>::default();
        let questions: Vec<_> = (0..4).map(|n| question("/large", &n.to_string())).collect();
        shelf.note(&questions[0], LARGE);
        for question in &questions {
            shelf.place(question);
            shelf.settle(question, ROOM / 5);
            shelf.place(&questions[0]);
        }
        assert!(shelf.bytes <= ROOM);
        let kept: Vec<_> = questions.iter().map(|it| shelf.slots.contains_key(it)).collect();
        assert_eq!(kept, [true, false, true, true]);
        // An answer larger than the whole capacity is not kept.
        shelf.settle(&questions[0], ROOM);
        assert_eq!((shelf.slots.len(), shelf.bytes), (0, 0));
    }

    #[test]
    fn a_log_that_went_back_is_another() {
        let mut shelf = Shelf::<Arc<()>>::default();
        let any = question("/large", "");
        let before = shelf.see(&any, Seq(5));
        assert_eq!(shelf.see(&any, Seq(5)), before);
        shelf.see(&any, Seq(1));
        assert_ne!(shelf.see(&any, Seq(5)), before);
    }
}
