//! Strict verification.

use std::sync::Arc;

use super::{Payload, canonical};
use crate::domain::{PublicKey, Signed};

/// A payload whose signature holds. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    signed: Arc<Signed<T>>,
    key: PublicKey,
}

impl<T> Verified<T> {
    /// What was signed, and the signature.
    pub fn signed(&self) -> &Arc<Signed<T>> {
        &self.signed
    }

    /// The key that it was checked against.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Verifies a signature over the canonical bytes, strictly: no small-order component, no malleable
/// or non-canonical encoding (contract, section 2). `None` when it does not hold, whatever is wrong
/// with it, be it only its base64.
pub fn verify<T: Payload>(signed: &Arc<Signed<T>>, key: &PublicKey) -> Option<Verified<T>> {
    let signature = signed.signature.decoded()?;
    let bytes = canonical(&signed.payload);
    key.verifying_key().verify_strict(bytes.as_bytes(), &signature).ok()?;
    Some(Verified { signed: Arc::clone(signed), key: key.clone() })
}
