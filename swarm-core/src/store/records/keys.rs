//! Public keys.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::domain::{Invalid, PublicKey};

/// How many decoded keys are cached.
const CACHED: usize = 10_000;

/// Decodes a public key that a store has kept. That costs a square root in the field, and the same
/// members' keys come again and again, so that decoded ones are cached.
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
    if cache.len() >= CACHED {
        cache.clear();
    }
    cache.insert(text.to_owned(), key.clone());
    Ok(key)
}
