//! A clock that tests control.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use swarm_core::domain::Timestamp;

/// A clock that advances only when a test sets it, for stores that accept a clock. Clones share the
/// time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock with the time `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.millis())))
    }

    /// The current time of the clock.
    pub fn now(&self) -> Timestamp {
        Timestamp::EPOCH.plus_millis(self.0.load(Ordering::SeqCst))
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.millis(), Ordering::SeqCst);
    }

    /// Advances the time by `millis` milliseconds.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}
