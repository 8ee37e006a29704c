//! Compares `verify_signature` with dalek's `verify_strict`, for keys and signatures with small-order
//! components.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::collections::HashSet;

use curve25519_dalek::EdwardsPoint;
use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Signature as Raw, Verifier as _};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use sha2::{Digest as _, Sha512};

use super::{ORDER, SMALL_ORDER, is_reduced, verify_signature};
use crate::domain::{PublicKey, Signature};

#[test]
fn small_order_encodings_are_the_torsion_points() {
    let torsion = EIGHT_TORSION.iter().map(|point| point.compress().to_bytes());
    assert_eq!(torsion.collect::<HashSet<_>>(), HashSet::from(SMALL_ORDER));
}

/// Signatures with an `R` of small order that `verify` accepts and `verify_strict` refuses.
#[test]
fn small_order_r_is_refused() {
    for torsion in EIGHT_TORSION {
        let member = Member::new(Scalar::ONE, EIGHT_TORSION[1]).unwrap();
        let signed = (0_u32..1_000).map(u32::to_le_bytes).find_map(|message| {
            let signature = member.sign(Scalar::ZERO, torsion, &message);
            let plain = member.key.verifying_key().verify(&message, &signature).is_ok();
            plain.then_some((message, signature))
        });
        let (message, signature) = signed.unwrap();
        assert!(!member.strict(&message, &signature));
        assert!(!member.holds(&message, &signature));
    }
}

#[test]
fn s_is_below_the_order() {
    let canonical = |s| bool::from(Scalar::from_canonical_bytes(s).is_some());
    let changed = |place: usize, by: i8| {
        let mut s = ORDER;
        s[place] = s[place].wrapping_add_signed(by);
        s
    };
    let near = (0..32).flat_map(|place| [changed(place, 1), changed(place, -1)]);
    for s in near.chain([[0; 32], [0xff; 32], ORDER]) {
        assert_eq!(is_reduced(&s), canonical(s), "{s:x?}");
    }
}

/// Random keys, small-order components, flipped bits. `SWARM_CASES` sets the number of signatures.
#[test]
fn verdicts_equal_verify_strict() {
    let cases = std::env::var("SWARM_CASES").map_or(4_000, |cases| cases.parse().unwrap());
    let attempts = vec((0..8_usize, any::<u8>(), 0..6_u8), SIGNATURES_PER_KEY);
    let strategy = (any::<[u8; 32]>(), 0..8_usize, attempts);
    let config =
        ProptestConfig { cases: cases / SIGNATURES_PER_KEY as u32, ..ProptestConfig::default() };
    let law = |(seed, of_key, attempts): ([u8; 32], usize, Vec<Attempt>)| {
        let secret = Scalar::from_bytes_mod_order(seed);
        let member = Member::new(secret, EIGHT_TORSION[of_key]);
        member.map_or(Ok(()), |member| attempts.into_iter().try_for_each(|it| agree(&member, it)))
    };
    TestRunner::new(config).run(&strategy, law).unwrap();
}

const SIGNATURES_PER_KEY: usize = 8;

/// The small-order component of R, the message, and the kind of signature (see [`agree`]).
type Attempt = (usize, u8, u8);

fn agree(member: &Member, (of_r, message, kind): Attempt) -> Result<(), TestCaseError> {
    let nonce = if kind < 2 { Scalar::ZERO } else { member.secret + Scalar::from(message) };
    let mut signature = member.sign(nonce, EIGHT_TORSION[of_r], &[message]).to_bytes();
    match kind {
        4 => signature[usize::from(message) % 64] ^= 1 << (message % 8),
        5 => signature = EIGHT_TORSION[of_r].compress().0.repeat(2).try_into().unwrap(),
        _ => {}
    }
    let signature = Raw::from_bytes(&signature);
    let strict = member.strict(&[message], &signature);
    prop_assert_eq!(member.holds(&[message], &signature), strict);
    Ok(())
}

struct Member {
    secret: Scalar,
    key: PublicKey,
}

impl Member {
    /// A member whose key has this small-order component; `None` when it is of small order itself.
    fn new(secret: Scalar, torsion: EdwardsPoint) -> Option<Self> {
        let key = PublicKey::from_bytes(&(EdwardsPoint::mul_base(&secret) + torsion).compress().0)?;
        Some(Self { secret, key })
    }

    fn sign(&self, nonce: Scalar, torsion: EdwardsPoint, message: &[u8]) -> Raw {
        let r = (EdwardsPoint::mul_base(&nonce) + torsion).compress().0;
        let hash = Sha512::new().chain_update(r).chain_update(self.key.as_bytes());
        let challenge: [u8; 64] = hash.chain_update(message).finalize().into();
        let s = nonce + Scalar::from_bytes_mod_order_wide(&challenge) * self.secret;
        Raw::from_components(r, s.to_bytes())
    }

    fn strict(&self, message: &[u8], signature: &Raw) -> bool {
        self.key.verifying_key().verify_strict(message, signature).is_ok()
    }

    fn holds(&self, message: &[u8], signature: &Raw) -> bool {
        verify_signature(message, &Signature::encode(signature), &self.key)
    }
}
