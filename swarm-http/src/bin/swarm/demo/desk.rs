//! What the story is told with: a client, a clock, and the members.

use swarm_core::Timestamp;

use super::author::Author;
use super::clock::StoryClock;
use crate::client::Client;

/// The desk that the story is told of.
pub(super) struct Desk {
    pub(super) client: Client,
    pub(super) clock: StoryClock,
    /// The moment that the story ends at: when it is told.
    pub(super) end: Timestamp,
    pub(super) members: Vec<Author>,
}

impl Desk {
    /// Lets time pass until so many minutes before the end.
    pub(super) fn at(&self, minutes_before: i64) -> Timestamp {
        let moment = self.end.plus_millis(-minutes_before * 60_000);
        self.clock.set(moment);
        moment
    }
}
