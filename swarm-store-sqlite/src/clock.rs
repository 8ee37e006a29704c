//! The time: the system's, but never running back.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use swarm_core::Timestamp;

/// A clock that stands still where its source runs back. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Clock {
    source: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    latest: Arc<AtomicI64>,
}

impl Clock {
    pub(crate) fn new(source: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { source: Arc::new(source), latest: Arc::new(AtomicI64::new(i64::MIN)) }
    }

    /// The time, in milliseconds since 1970: no earlier than any that was told before.
    pub(crate) fn millis(&self) -> i64 {
        let now = (self.source)().millis();
        self.latest.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this store reads the clock")]
pub(crate) fn system_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
    Timestamp::EPOCH.plus_millis(millis)
}
