//! The key with which a server signs the dumps of its store (`docs/dump.md`).

use ed25519_dalek::{Signer as _, SigningKey};

use super::verify_signature;
use crate::domain::{PublicKey, Signature};

/// The key with which a server signs dumps. `Debug` shows only the public key.
pub struct DumpKey(SigningKey);

/// The signature of a dump, and the key that it claims to be by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpSignature {
    /// The public key of the server that wrote the dump.
    pub key: PublicKey,
    /// The signature.
    pub signature: Signature,
}

impl DumpKey {
    pub(super) fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// Returns the public key; `None` for a key that nobody accepts, which no seed has in practice.
    pub fn public_key(&self) -> Option<PublicKey> {
        PublicKey::from_bytes(self.0.verifying_key().as_bytes())
    }

    /// Signs what a dump consists of, as text.
    pub fn sign(&self, totals: &str) -> Option<DumpSignature> {
        let signature = Signature::encode(&self.0.sign(message(totals).as_bytes()));
        Some(DumpSignature { key: self.public_key()?, signature })
    }
}

impl std::fmt::Debug for DumpKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DumpKey({:?})", self.public_key())
    }
}

impl DumpSignature {
    /// Returns whether the signature over what the dump consists of is by the key that it names.
    pub fn verify(&self, totals: &str) -> bool {
        verify_signature(message(totals).as_bytes(), &self.signature, &self.key)
    }
}

/// The signed text. It begins with its purpose, so that the key signs nothing else by mistake.
fn message(totals: &str) -> String {
    format!("swarm dump v1\n{totals}")
}
