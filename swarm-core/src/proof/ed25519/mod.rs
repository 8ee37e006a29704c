//! Strict Ed25519: the one predicate, computed in one of two ways.

mod field;
mod inverse;
mod key_tables;
mod multiples;
mod point;
mod small_order;
#[cfg(test)]
mod tests;

use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::Verifier as _;
use sha2::{Digest, Sha512};

pub use key_tables::KeyTables;

use self::multiples::KeyTable;
use self::small_order::is_small_order;
use crate::domain::{PublicKey, Signature};

/// Whether a signature holds over a message, strictly: no small-order component, no malleable or
/// non-canonical encoding (contract, section 2).
///
/// This is `verify_strict` of ed25519-dalek without decompressing R: what `verify` accepts has the
/// canonical encoding of R, so that R is of small order exactly when it is one of eight texts, and a
/// [`PublicKey`] never is.
pub fn holds(message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
    strictly(signature, |signature| key.verifying_key().verify(message, signature).is_ok())
}

/// The same, with a table of multiples of the key: R must be the canonical encoding of s·B - k·A,
/// where k is the SHA-512 of R, A and the message, and s a scalar in its canonical encoding. All of
/// this is public, so how long it takes may depend on it.
fn holds_by(table: &KeyTable, message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
    strictly(signature, |signature| {
        let s = Scalar::from_canonical_bytes(*signature.s_bytes());
        let hash = Sha512::new().chain_update(signature.r_bytes()).chain_update(key.as_bytes());
        let k = Scalar::from_bytes_mod_order_wide(&hash.chain_update(message).finalize().into());
        let r = s.map(|s| table.difference(&s, &k).compress());
        r.into_option().is_some_and(|r| r == *signature.r_bytes())
    })
}

fn strictly(signature: &Signature, holds: impl FnOnce(&ed25519_dalek::Signature) -> bool) -> bool {
    signature
        .decoded()
        .is_some_and(|signature| !is_small_order(signature.r_bytes()) && holds(&signature))
}
