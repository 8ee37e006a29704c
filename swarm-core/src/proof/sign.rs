//! Signing, for clients, demonstrations and tests. The service itself never signs.

use ed25519_dalek::{Signer, SigningKey};

use super::{Payload, canonical};
use crate::domain::{PublicKey, Signature, Signed};

/// The key pair of a member. It is zeroed when dropped.
pub struct KeyPair(SigningKey);

impl KeyPair {
    /// The key pair of a 32-byte Ed25519 seed (the private key).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// Returns the public key. Its text is the form used for registration.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of_pair(self.0.verifying_key())
    }

    /// Signs the canonical bytes of `payload`.
    pub fn sign<T: Payload>(&self, payload: T) -> Signed<T> {
        let signature = self.0.sign(canonical(&payload).as_bytes());
        Signed { payload, signature: Signature::encode(&signature) }
    }
}

impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyPair({})", self.public_key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_only_the_public_key() {
        let keys = KeyPair::from_seed(&[7; 32]);
        assert_eq!(format!("{keys:?}"), format!("KeyPair({})", keys.public_key()));
    }
}
