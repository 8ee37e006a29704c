//! Identities of transactions.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::backend::CommitId;

/// The identity of a transaction that is sent once: it need not be unpredictable, but no other has it.
pub(super) fn new_id() -> CommitId {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut id = [0; 16];
    let (first, second) = id.split_at_mut(8);
    // Each `RandomState` hashes with keys of its own.
    first.copy_from_slice(&RandomState::new().hash_one(number).to_be_bytes());
    second.copy_from_slice(&RandomState::new().hash_one(number).to_be_bytes());
    CommitId(id)
}
