//! Lists of records that are numbered from 1 without a gap, newest first. A page reads at most so many records, whatever is
//! stored and whatever a filter keeps.

use std::ops::Range;

/// Maximum number of records that are read for one page.
const MAX_READ: u64 = 1_000;

/// Size in bytes at which a page ends early.
const PAGE_BYTES: usize = 4 << 20;

/// The numbers that a page searches: up to so many of those below `before`, where `newest` is the highest.
pub(super) fn searched(before: Option<u64>, newest: u64) -> Range<u64> {
    let end = before.unwrap_or(u64::MAX).min(newest.saturating_add(1));
    end.saturating_sub(MAX_READ).max(1)..end
}

/// These numbers in descending order, up to `at_once` of them at once.
pub(super) fn batches(numbers: Range<u64>, at_once: usize) -> impl Iterator<Item = Vec<u64>> {
    let mut numbers = numbers.rev();
    std::iter::from_fn(move || Some(numbers.by_ref().take(at_once).collect()))
        .take_while(|batch: &Vec<_>| !batch.is_empty())
}

/// A page in the making.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    limit: usize,
    room: usize,
}

impl<T> Page<T> {
    pub(super) fn of(limit: usize) -> Self {
        Self { items: Vec::new(), limit, room: PAGE_BYTES }
    }

    /// Adds an item of this size in bytes. Returns whether there was room; the first item always has room.
    pub(super) fn push(&mut self, item: T, bytes: usize) -> bool {
        let has_room = self.items.is_empty() || bytes <= self.room;
        if self.items.len() == self.limit || !has_room {
            return false;
        }
        self.room = self.room.saturating_sub(bytes);
        self.items.push(item);
        true
    }
}
