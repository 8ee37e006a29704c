//! Payloads with a verified signature.

use std::sync::Arc;

use super::{Payload, canonical, verify_signature};
use crate::domain::{PublicKey, Signed};

/// A payload whose signature was verified. Only [`verify`] constructs it.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    signed: Arc<Signed<T>>,
    key: PublicKey,
    canonical: String,
}

impl<T> Verified<T> {
    /// Returns the payload with its signature.
    pub fn signed(&self) -> &Arc<Signed<T>> {
        &self.signed
    }

    /// Returns the signed text: [`canonical`] of the payload, computed once.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the key that the signature was verified with.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Verifies the signature over the canonical bytes of the payload. `None` when it does not hold,
/// also when it is not valid base64.
pub fn verify<T: Payload>(signed: &Arc<Signed<T>>, key: &PublicKey) -> Option<Verified<T>> {
    let canonical = canonical(&signed.payload);
    verify_signature(canonical.as_bytes(), &signed.signature, key).then(|| Verified {
        signed: Arc::clone(signed),
        key: key.clone(),
        canonical,
    })
}
