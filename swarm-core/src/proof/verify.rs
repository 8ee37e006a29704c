//! Strict verification.

use std::sync::Arc;

use ed25519_dalek::Verifier as _;

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
///
/// This is `verify_strict` of ed25519-dalek without decompressing R: what `verify` accepts has the
/// canonical encoding of R, so that R is of small order exactly when it is one of eight texts, and a
/// [`PublicKey`] never is.
pub fn holds(message: &[u8], signature: &Signature, key: &PublicKey) -> bool {
    signature.decoded().is_some_and(|signature| {
        !SMALL_ORDER.contains(signature.r_bytes())
            && key.verifying_key().verify(message, &signature).is_ok()
    })
}

/// The canonical encodings of the eight points of small order: y is 1, -1, 0, or belongs to a point
/// of order eight; the last bit is the sign of x, which is 0 for the first two.
const SMALL_ORDER: [[u8; 32]; 8] = {
    const ONE: [u8; 32] = with_last([0; 32], 0x01, 0x00);
    const MINUS_ONE: [u8; 32] = with_last([0xff; 32], 0xec, 0x7f);
    const ZERO: [u8; 32] = [0; 32];
    const EIGHTH: [u8; 32] = [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ];
    const OTHER_EIGHTH: [u8; 32] = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    [
        ONE,
        MINUS_ONE,
        ZERO,
        with_last(ZERO, 0x00, 0x80),
        EIGHTH,
        with_last(EIGHTH, 0xc7, 0xfa),
        OTHER_EIGHTH,
        with_last(OTHER_EIGHTH, 0x26, 0x85),
    ]
};

const fn with_last(mut bytes: [u8; 32], first: u8, last: u8) -> [u8; 32] {
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::collections::HashSet;

    use curve25519_dalek::EdwardsPoint;
    use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as BASE, EIGHT_TORSION};
    use curve25519_dalek::scalar::Scalar;
    use ed25519_dalek::{Signature as Raw, Verifier as _};
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    use sha2::{Digest as _, Sha512};

    use super::{SMALL_ORDER, holds};
    use crate::domain::{PublicKey, Signature};

    #[test]
    fn the_encodings_of_small_order_are_those_of_the_curve() {
        let torsion = EIGHT_TORSION.iter().map(|point| point.compress().to_bytes());
        assert_eq!(torsion.collect::<HashSet<_>>(), HashSet::from(SMALL_ORDER));
    }

    /// `R` of small order with which plain verification is content, and strict one is not.
    #[test]
    fn a_component_of_small_order_never_holds() {
        for torsion in EIGHT_TORSION {
            let key = PublicKey::from_bytes(&(BASE + EIGHT_TORSION[1]).compress().0).unwrap();
            let signed = (0_u32..1_000).map(u32::to_le_bytes).find_map(|message| {
                let signature = forged(Scalar::ONE, torsion, &key, &message);
                let plain = key.verifying_key().verify(&message, &signature).is_ok();
                plain.then_some((message, signature))
            });
            let (message, signature) = signed.unwrap();
            assert!(key.verifying_key().verify_strict(&message, &signature).is_err());
            assert!(!holds(&message, &Signature::encode(&signature), &key));
        }
    }

    /// Random keys, components of small order, broken bits; `SWARM_CASES` says how many.
    #[test]
    fn it_is_what_strict_verification_says() {
        let cases = std::env::var("SWARM_CASES").map_or(2_000, |cases| cases.parse().unwrap());
        let strategy = (any::<[u8; 32]>(), 0..8_usize, 0..8_usize, any::<u8>(), 0..6_u8);
        let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
        let law = |(seed, of_key, of_r, message, kind): ([u8; 32], usize, usize, u8, u8)| {
            let secret = Scalar::from_bytes_mod_order(seed);
            let point = BASE * secret + EIGHT_TORSION[of_key];
            let Some(key) = PublicKey::from_bytes(&point.compress().0) else { return Ok(()) };
            let nonce = if kind < 2 { Scalar::ZERO } else { secret + Scalar::ONE };
            let r = BASE * nonce + EIGHT_TORSION[of_r];
            let mut signature = forged_with(secret, nonce, r, &key, &[message]).to_bytes();
            match kind {
                4 => signature[usize::from(message) % 64] ^= 1 << (message % 8),
                5 => signature = EIGHT_TORSION[of_r].compress().0.repeat(2).try_into().unwrap(),
                _ => {}
            }
            let signature = Raw::from_bytes(&signature);
            let strict = key.verifying_key().verify_strict(&[message], &signature).is_ok();
            prop_assert_eq!(holds(&[message], &Signature::encode(&signature), &key), strict);
            Ok(())
        };
        runner.run(&strategy, law).unwrap();
    }

    /// A signature whose R is this point of small order.
    fn forged(secret: Scalar, r: EdwardsPoint, key: &PublicKey, message: &[u8]) -> Raw {
        forged_with(secret, Scalar::ZERO, r, key, message)
    }

    fn forged_with(
        secret: Scalar,
        nonce: Scalar,
        r: EdwardsPoint,
        key: &PublicKey,
        message: &[u8],
    ) -> Raw {
        let r = r.compress().0;
        let hash = Sha512::new().chain_update(r).chain_update(key.as_bytes());
        let challenge: [u8; 64] = hash.chain_update(message).finalize().into();
        let s = nonce + Scalar::from_bytes_mod_order_wide(&challenge) * secret;
        Raw::from_components(r, s.to_bytes())
    }
}
