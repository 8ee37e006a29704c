//! Decoding of stored public keys, with a cache.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::domain::{Invalid, PublicKey};

/// The maximum number of cached keys.
const MAX_CACHED: usize = 10_000;

/// Decodes a stored public key. Decoding costs a square root in the field, and the same keys are
/// read again and again, so decoded keys are cached.
///
/// # Errors
/// As [`PublicKey::parse`].
pub fn public_key(text: &str) -> Result<PublicKey, Invalid> {
    static CACHE: LazyLock<Mutex<HashMap<String, PublicKey>>> = LazyLock::new(Mutex::default);
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = cache().get(text) {
        return Ok(key.clone());
    }
    let key = PublicKey::parse(text)?;
    let mut cache = cache();
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert(text.to_owned(), key.clone());
    Ok(key)
}
