//! Payloads whose signature was verified.

use std::sync::Arc;

use super::{Payload, canonical, holds};
use crate::domain::{PublicKey, Signed};

/// A payload whose signature holds. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    signed: Arc<Signed<T>>,
    key: PublicKey,
    canonical: String,
}

impl<T> Verified<T> {
    /// The payload with its signature.
    pub fn signed(&self) -> &Arc<Signed<T>> {
        &self.signed
    }

    /// The text over which the signature holds: [`canonical`] of the payload, built once.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The key that the signature was verified with.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Verifies that the signature of a payload holds over its canonical bytes. `None` for any other
/// signature, also where only its base64 is malformed.
pub fn verify<T: Payload>(signed: &Arc<Signed<T>>, key: &PublicKey) -> Option<Verified<T>> {
    let canonical = canonical(&signed.payload);
    holds(canonical.as_bytes(), &signed.signature, key).then(|| Verified {
        signed: Arc::clone(signed),
        key: key.clone(),
        canonical,
    })
}
