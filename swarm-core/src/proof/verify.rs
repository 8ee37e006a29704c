//! Strict verification.

use std::sync::Arc;

use super::{Payload, canonical};
use crate::domain::{PublicKey, Signature, Signed};

/// A payload whose signature holds. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    signed: Arc<Signed<T>>,
    key: PublicKey,
    canonical: Arc<str>,
}

impl<T> Verified<T> {
    /// What was signed, and the signature.
    pub fn signed(&self) -> &Arc<Signed<T>> {
        &self.signed
    }

    /// The text over which the signature holds: [`canonical`] of the payload, built once.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The key that it was checked against.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }
}

/// Verifies a payload: its signature must hold over the canonical bytes. `None` when it does not,
/// whatever is wrong with it, be it only its base64.
pub fn verify<T: Payload>(signed: &Arc<Signed<T>>, key: &PublicKey) -> Option<Verified<T>> {
    let canonical = canonical(&signed.payload);
    let holds = holds(canonical.as_bytes(), &signed.signature, key);
    holds.then(|| Verified {
        signed: Arc::clone(signed),
        key: key.clone(),
        canonical: canonical.into(),
    })
}

/// Whether a signature holds over a message, strictly: no small-order component, no malleable or
/// non-canonical encoding (contract, section 2).
pub fn holds(message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
    let signature = signature.decoded();
    signature.is_some_and(|sig| key.verifying_key().verify_strict(message, &sig).is_ok())
}
