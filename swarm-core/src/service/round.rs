//! Rounds of work that is done again and again.

use std::time::Duration;

use crate::domain::Timestamp;

/// What a round of recurring work came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// How much of it was done.
    pub done: usize,
    /// How long it will be until more is due, by the store's clock, unless the tenant changes before;
    /// none where nothing waits for its time.
    pub next_in: Option<Duration>,
}

impl Round {
    /// Something waits until `due`, if it waits.
    pub(super) fn wait_for(&mut self, due: Option<Timestamp>, now: Timestamp) {
        let wait = due.map(|due| now.until(due));
        self.next_in = self.next_in.into_iter().chain(wait).min();
    }
}
