//! Payloads whose signature holds.

use std::sync::Arc;

use super::{KeyTables, Payload, canonical, holds};
use crate::domain::{PublicKey, Signature, Signed};

/// A payload whose signature holds. Only verification makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    signed: Arc<Signed<T>>,
    key: PublicKey,
    canonical: String,
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
    verified(signed, key, holds)
}

impl KeyTables {
    /// What [`verify`] says, by the table of the key where it is known.
    pub fn verify<T: Payload>(
        &self,
        signed: &Arc<Signed<T>>,
        key: &PublicKey,
    ) -> Option<Verified<T>> {
        verified(signed, key, |message, signature, key| self.holds(message, signature, key))
    }
}

fn verified<T: Payload>(
    signed: &Arc<Signed<T>>,
    key: &PublicKey,
    holds: impl FnOnce(&[u8], &Signature, &PublicKey) -> bool,
) -> Option<Verified<T>> {
    let canonical = canonical(&signed.payload);
    holds(canonical.as_bytes(), &signed.signature, key).then(|| Verified {
        signed: Arc::clone(signed),
        key: key.clone(),
        canonical,
    })
}
