//! The result of one round of recurring background work.

use std::time::Duration;

use crate::domain::Timestamp;

/// The result of one round of recurring background work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Round {
    /// The number of items that were processed.
    pub done: usize,
    /// The time until the next item is due, by the store's clock, if the tenant does not change
    /// before; `None` when no item is waiting.
    pub next_in: Option<Duration>,
}

impl Round {
    /// Notes an item that is due at `due`, if any.
    pub(super) fn wait_for(&mut self, due: Option<Timestamp>, now: Timestamp) {
        let wait = due.map(|due| now.until(due));
        self.next_in = self.next_in.into_iter().chain(wait).min();
    }
}
