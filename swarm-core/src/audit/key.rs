//! The key of a log, as somebody named it.

use crate::domain::{Invalid, PublicKey};
use crate::proof::note::{KeyKind, VerifierKey};

/// The key that a log's checkpoints and receipts are verified with.
#[derive(Clone, Debug)]
pub struct LogKey {
    named: Named,
    /// Who named it.
    pub(super) source: KeySource,
}

/// Who named a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The caller of the verification.
    Given,
    /// The server under verification, which proves less.
    Served,
}

#[derive(Clone, Debug)]
enum Named {
    Verifier(VerifierKey),
    /// Of a log of any name.
    Bare(PublicKey),
}

impl LogKey {
    /// Reads a C2SP verifier key, or the base64 of its 32 bytes alone.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(text: &str, source: KeySource) -> Result<Self, Invalid> {
        let bare = PublicKey::parse(text).map(Named::Bare);
        let named = bare.or_else(|_| VerifierKey::parse(text).map(Named::Verifier));
        let is_log = |named: &Named| match named {
            Named::Verifier(key) => key.kind() == KeyKind::Ed25519,
            Named::Bare(_) => true,
        };
        let named = named.ok().filter(is_log).ok_or_else(|| {
            Invalid::new(
                "key",
                "must be a verifier key of a log (name+id+base64), or base64 of 32 bytes",
            )
        })?;
        Ok(Self { named, source })
    }

    /// Whether both are one public key, and no two names.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.named, &other.named) {
            (Named::Verifier(one), Named::Verifier(other)) => one == other,
            (one, other) => one.bytes() == other.bytes(),
        }
    }

    /// The verifier key for a log of this name. The name of the key itself is kept, where it has one.
    ///
    /// # Errors
    /// [`Invalid`] when the name cannot name a key.
    pub fn verifier(&self, origin: &str) -> Result<VerifierKey, Invalid> {
        match &self.named {
            Named::Verifier(key) => Ok(key.clone()),
            Named::Bare(key) => VerifierKey::new(origin, KeyKind::Ed25519, key.clone()),
        }
    }
}

impl Named {
    fn bytes(&self) -> &[u8; 32] {
        match self {
            Self::Verifier(key) => key.public_key().as_bytes(),
            Self::Bare(key) => key.as_bytes(),
        }
    }
}
