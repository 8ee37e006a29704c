//! A clock that stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use swarm_core::domain::Timestamp;

/// A clock that stands still until it is set or moved, for stores that go by the clock they are
/// given. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.millis())))
    }

    /// What it shows.
    pub fn now(&self) -> Timestamp {
        Timestamp::EPOCH.plus_millis(self.0.load(Ordering::SeqCst))
    }

    /// Sets it.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.millis(), Ordering::SeqCst);
    }

    /// Moves it on by so many milliseconds.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}
