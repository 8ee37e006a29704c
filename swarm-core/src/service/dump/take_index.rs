//! What a reader has to know of every take.

use std::collections::HashMap;

use crate::domain::{Digest, TenantId};

/// Where a [`DumpReader`](super::DumpReader) keeps what it has to know of every take: the nonces that were used and the
/// last revisions. It is the only part of a reader that grows with the takes. In a `HashMap` it needs about 100 bytes
/// for each; a program that must not need so much keeps it on disk.
pub trait TakeIndex: std::fmt::Debug + Send {
    /// Sets the number of a key, and returns the one before, if any.
    ///
    /// # Errors
    /// A text, where the index cannot be read or written. Nothing can be said of the dump then.
    fn set(&mut self, key: TakeKey, number: u8) -> Result<Option<u8>, String>;
}

/// A key of a [`TakeIndex`]: 16 bytes of a SHA-256, by which no two takes are mistaken for each other.
pub type TakeKey = [u8; 16];

impl TakeIndex for HashMap<TakeKey, u8> {
    fn set(&mut self, key: TakeKey, number: u8) -> Result<Option<u8>, String> {
        Ok(self.insert(key, number))
    }
}

/// The key of these parts of a tenant's take.
pub(super) fn key(tenant: &TenantId, parts: [&str; 3]) -> TakeKey {
    // Each part is preceded by its length, so that no two takes have the same text.
    let part = |text: &str| format!("{} {text}", text.len());
    let text: String = std::iter::once(tenant.as_str()).chain(parts).map(part).collect();
    let digest = Digest::of(text.as_bytes());
    let mut key = TakeKey::default();
    key.iter_mut().zip(digest.as_bytes()).for_each(|(to, from)| *to = *from);
    key
}
