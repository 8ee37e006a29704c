//! The key of a log, with its source.

use crate::domain::{Invalid, PublicKey};
use crate::proof::note::{KeyKind, VerifierKey};

/// The key that a log's checkpoints and receipts are verified with.
#[derive(Clone, Debug)]
pub struct LogKey {
    named: Named,
    /// The source of the key.
    pub(super) source: KeySource,
}

/// The source of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// Given by the caller of the verification.
    Given,
    /// Served by the server under verification, which could have forged it.
    Served,
}

#[derive(Clone, Debug)]
enum Named {
    Verifier(VerifierKey),
    /// A public key without the name of a log.
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

    /// The key that the caller of the verification gave in another form.
    pub(super) fn given(key: &VerifierKey) -> Self {
        Self { named: Named::Verifier(key.clone()), source: KeySource::Given }
    }

    /// Returns whether both have the same public key, and the same name if both have one.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.named, &other.named) {
            (Named::Verifier(one), Named::Verifier(other)) => one == other,
            (one, other) => one.bytes() == other.bytes(),
        }
    }

    /// Returns the verifier key for a log of this name. If the key has a name of its own, that name
    /// is kept.
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
