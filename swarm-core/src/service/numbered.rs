//! Lists of records that are numbered from 1 without a gap, newest first. Their pages are made of reads of single records,
//! so that a page costs at most so many reads, whatever is stored and whatever a filter keeps.

use std::future::Future;

use super::Error;

/// Maximum number of records that are read for one page.
pub(super) const MAX_READ: u64 = 1_000;

/// Size in bytes at which a page ends early.
const PAGE_BYTES: usize = 4 << 20;

/// Returns the lowest number that is higher than those of all records below `before`. `exists` says whether there is a
/// record of a number; it is asked about twice as often as the number has binary digits.
pub(super) async fn end<F>(
    before: Option<u64>,
    exists: impl Fn(u64) -> F + Send + Sync,
) -> Result<u64, Error>
where
    F: Future<Output = Result<bool, Error>> + Send,
{
    match before {
        Some(0 | 1) => return Ok(1),
        Some(before) if exists(before - 1).await? => return Ok(before),
        _ => {}
    }
    // Whatever is lower than `low` exists, and `high` does not.
    let (mut low, mut high) = (1_u64, 1_u64);
    while exists(high).await? {
        (low, high) = (high + 1, high.saturating_mul(2));
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if exists(middle).await? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low.min(before.unwrap_or(low)))
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
