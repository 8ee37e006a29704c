//! Reads the system clock.

use swarm_core::Timestamp;

#[expect(clippy::disallowed_methods, reason = "the one place where this store reads the clock")]
pub(crate) fn system_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
    Timestamp::EPOCH.plus_millis(millis)
}
