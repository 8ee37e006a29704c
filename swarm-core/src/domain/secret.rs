//! Hashes of secrets. Only hashes are stored, never the secrets themselves.

use std::marker::PhantomData;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::hex::parse_hex;

/// The SHA-256 of a secret of the kind `S` (API.md, 4.4 and 8.1). Hashes of different kinds are
/// different types. Comparison takes constant time, and `Debug` hides the hash.
#[derive(Eq)]
pub struct SecretHash<S = BearerSecret>([u8; 32], PhantomData<fn() -> S>);

/// The hash of a member's bearer token.
pub type TokenHash = SecretHash<BearerSecret>;

/// The hash of a committee member's API key.
pub type ApiKeyHash = SecretHash<ApiKeySecret>;

/// The hash of an operator's token.
pub type AdminTokenHash = SecretHash<AdminSecret>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $kind {})*
    };
}

kinds! {
    /// A kind of secret: the bearer token of a member.
    BearerSecret
    /// A kind of secret: the API key of a committee member.
    ApiKeySecret
    /// A kind of secret: the token of an operator.
    AdminSecret
}

impl<S> SecretHash<S> {
    /// The hash of `secret`.
    pub fn of(secret: &[u8]) -> Self {
        Self::from_bytes(Sha256::digest(secret).into())
    }

    /// Parses the form used in configurations: `sha256:` and 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_hex(text.strip_prefix("sha256:")?).map(Self::from_bytes)
    }

    /// Returns the 32 bytes of the hash, for stores.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash with these bytes, for stores.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes, PhantomData)
    }
}

impl<S> Clone for SecretHash<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for SecretHash<S> {}

impl<S> PartialEq for SecretHash<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl<S> std::hash::Hash for SecretHash<S> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<S> std::fmt::Debug for SecretHash<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_sha256_prefix_and_hex_digits() {
        // SHA-256 of "abc", FIPS 180-2.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TokenHash::parse(&format!("sha256:{hex}")), Some(TokenHash::of(b"abc")));
        for bad in [hex, "sha256:", "sha256:zz", &format!("sha256:{hex}0")] {
            assert_eq!(TokenHash::parse(bad), None);
        }
    }

    #[test]
    fn debug_hides_the_hash() {
        assert_eq!(format!("{:?}", TokenHash::of(b"abc")), "SecretHash(..)");
    }
}
