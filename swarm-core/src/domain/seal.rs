//! Seals: the public sees the seal of a take in a blind session, and not its content, until the session is
//! opened (API.md, 5.8).
//!
//! A seal is a digest of the take and a random salt. Without the salt, it discloses nothing about the take.
//! With the salt and the take, anyone can check that the take is the one that was filed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use super::json::write;
use super::{Digest, Invalid, RunningDigest, Signed};

/// The salt of a seal: 32 random bytes. It is secret until the session is opened, and hidden from
/// `Debug`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl Salt {
    /// Parses the padded standard base64 of the 32 bytes.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, Invalid> {
        let (text, mut bytes) = (text.as_ref(), [0; 32]);
        let exact = text.len() == 44 && STANDARD.decode_slice(text, &mut bytes) == Ok(32);
        exact
            .then_some(Self(bytes))
            .ok_or_else(|| Invalid::new("salt", "must be base64 of 32 bytes"))
    }

    /// Returns the seal of a take: the digest of the salt, the canonical bytes, a zero byte, and the
    /// signature.
    pub fn seal<T: Serialize>(&self, take: &Signed<T>) -> Digest {
        let mut digest = RunningDigest::default();
        digest.update(&self.0);
        digest.update(write(&take.payload).as_bytes());
        digest.update(&[0]);
        // A verified take has one.
        if let Some(signature) = take.signature.decoded() {
            digest.update(&signature.to_bytes());
        }
        digest.digest()
    }
}

impl std::fmt::Debug for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Salt")
    }
}

impl std::fmt::Display for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl Serialize for Salt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

super::parsed::parsed!(Salt);
super::parsed::deserialized!(Salt);
