//! Permits for the memory of bodies and answers in flight, and the share of one client.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The memory for all bodies in flight, in bytes.
pub(crate) const BODIES: usize = 64 << 20;

/// The memory for all answers in flight, in bytes. The cache has its own limit.
pub(crate) const ANSWERS: usize = 128 << 20;

/// The bytes of bodies and of answers that one client may have in flight.
pub(crate) const CLIENT_BODIES: usize = BODIES / 4;
pub(crate) const CLIENT_ANSWERS: usize = ANSWERS / 4;

/// Bytes per permit.
pub(crate) const UNIT: usize = 1 << 10;

/// The memory available to one client.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) answers: Arc<Semaphore>,
}

impl Default for Share {
    fn default() -> Self {
        Self { bodies: semaphore(CLIENT_BODIES), answers: semaphore(CLIENT_ANSWERS) }
    }
}

/// Permits for this many bytes.
pub(crate) fn semaphore(bytes: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(bytes / UNIT))
}
