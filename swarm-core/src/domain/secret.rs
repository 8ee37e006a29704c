//! Secrets are known by their hashes only.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The SHA-256 of a secret: what is stored of a bearer token or a challenge (specification,
/// section 5A). Compared in constant time; its `Debug` shows nothing.
#[derive(Clone, Copy, Eq)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of `secret`.
    pub fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Reads `sha256:` and 64 hexadecimal digits, as configurations carry it.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?.as_bytes();
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let digit = |at: usize| pair.get(at).and_then(|c| char::from(*c).to_digit(16));
            *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        }
        Some(Self(bytes))
    }

    /// The 32 bytes of the hash, for stores.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash with these bytes, as a store kept them.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::hash::Hash for SecretHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl std::fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_form_is_read_back() {
        // SHA-256 of "abc", FIPS 180-2.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(SecretHash::parse(&format!("sha256:{hex}")), Some(SecretHash::of(b"abc")));
        for bad in [hex, "sha256:", "sha256:zz", &format!("sha256:{hex}0")] {
            assert_eq!(SecretHash::parse(bad), None);
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", SecretHash::of(b"abc")), "SecretHash(..)");
    }
}
