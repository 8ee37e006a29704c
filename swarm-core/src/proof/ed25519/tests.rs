//! Both ways against strict verification. Points of small order are in play everywhere.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use curve25519_dalek::EdwardsPoint;
use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Signature as Raw, Verifier as _};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use sha2::{Digest as _, Sha512};

use super::multiples::KeyTable;
use super::{holds, holds_by};
use crate::domain::{PublicKey, Signature};

/// `R` of small order with which plain verification is content, and strict one is not.
#[test]
fn a_component_of_small_order_never_holds() {
    for torsion in EIGHT_TORSION {
        let member = Member::new(Scalar::ONE, EIGHT_TORSION[1]).unwrap();
        let signed = (0_u32..1_000).map(u32::to_le_bytes).find_map(|message| {
            let signature = member.sign(Scalar::ZERO, torsion, &message);
            let plain = member.key.verifying_key().verify(&message, &signature).is_ok();
            plain.then_some((message, signature))
        });
        let (message, signature) = signed.unwrap();
        assert!(!member.strict(&message, &signature));
        assert_eq!(member.verdicts(&message, &signature), [false; 2]);
    }
}

/// Random keys, components of small order, broken bits; `SWARM_CASES` says how many signatures.
#[test]
fn it_is_what_strict_verification_says() {
    let cases = std::env::var("SWARM_CASES").map_or(4_000, |cases| cases.parse().unwrap());
    let attempts = vec((0..8_usize, any::<u8>(), 0..6_u8), OF_A_KEY);
    let strategy = (any::<[u8; 32]>(), 0..8_usize, attempts);
    let config = ProptestConfig { cases: cases / OF_A_KEY as u32, ..ProptestConfig::default() };
    let law = |(seed, of_key, attempts): ([u8; 32], usize, Vec<Attempt>)| {
        let secret = Scalar::from_bytes_mod_order(seed);
        let member = Member::new(secret, EIGHT_TORSION[of_key]);
        member.map_or(Ok(()), |member| attempts.into_iter().try_for_each(|it| agree(&member, it)))
    };
    TestRunner::new(config).run(&strategy, law).unwrap();
}

/// How many signatures are tried for each key.
const OF_A_KEY: usize = 8;

/// The part of R that is of small order, the message, and what is odd about the signature.
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
    prop_assert_eq!(member.verdicts(&[message], &signature), [strict; 2]);
    Ok(())
}

struct Member {
    secret: Scalar,
    key: PublicKey,
    table: KeyTable,
}

impl Member {
    /// With a key that has a part of small order; `None` where it has no other.
    fn new(secret: Scalar, torsion: EdwardsPoint) -> Option<Self> {
        let key = PublicKey::from_bytes(&(EdwardsPoint::mul_base(&secret) + torsion).compress().0)?;
        Some(Self { secret, table: KeyTable::of(&key), key })
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

    /// Without a table and by it.
    fn verdicts(&self, message: &[u8], signature: &Raw) -> [bool; 2] {
        let signature = Signature::encode(signature);
        let by_table = holds_by(&self.table, message, &signature, &self.key);
        [holds(message, &signature, &self.key), by_table]
    }
}
