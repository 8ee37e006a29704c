//! Signatures hold for the very bytes that were signed, and in one form only.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use proptest::sample::Index;
use swarm_core::TakeDraft;
use swarm_core::domain::{PublicKey, Signature, Signed};
use swarm_core::json::Json;
use swarm_core::proof::{KeyPair, canonical, verify};

use crate::drafts::draft;

/// All that standard base64 is written with.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

fn holds(payload: &TakeDraft, signature: &str, keys: &KeyPair) -> bool {
    let key = PublicKey::parse(&keys.public_key()).unwrap();
    let signature = Signature::parse(signature).unwrap();
    verify(&Arc::new(Signed { payload: payload.clone(), signature }), &key).is_some()
}

fn read_draft(bytes: &[u8]) -> Option<TakeDraft> {
    TakeDraft::read(&mut Json::read(bytes).ok()?.into_object()).ok()
}

proptest! {
    #[test]
    fn what_a_member_signs_verifies_with_its_key_alone(
        draft in draft(), seed in any::<[u8; 32]>(), other in any::<[u8; 32]>(),
    ) {
        prop_assume!(seed != other);
        let keys = KeyPair::from_seed(&seed);
        let signed = keys.sign(draft.clone());
        prop_assert!(holds(&draft, signed.signature.as_str(), &keys));
        prop_assert!(!holds(&draft, signed.signature.as_str(), &KeyPair::from_seed(&other)));
    }

    #[test]
    fn no_signature_with_a_byte_changed_verifies(
        draft in draft(), seed in any::<[u8; 32]>(), at in any::<Index>(), flip in 1..=255_u8,
    ) {
        let keys = KeyPair::from_seed(&seed);
        let signed = keys.sign(draft);
        let mut bytes = STANDARD.decode(signed.signature.as_str()).unwrap();
        *at.get_mut(&mut bytes) ^= flip;
        prop_assert!(!holds(&signed.payload, &STANDARD.encode(bytes), &keys));
    }

    /// A changed byte of the canonical text gives no draft, or one whose signature does not hold;
    /// unless it is only another way to write the same draft (`1E-7`).
    #[test]
    fn no_payload_with_a_byte_changed_verifies(
        draft in draft(), seed in any::<[u8; 32]>(), at in any::<Index>(), byte in any::<u8>(),
    ) {
        let keys = KeyPair::from_seed(&seed);
        let signed = keys.sign(draft);
        let text = canonical(&signed.payload);
        let mut bytes = text.clone().into_bytes();
        *at.get_mut(&mut bytes) = byte;
        if let Some(changed) = read_draft(&bytes) {
            let same = canonical(&changed) == text;
            prop_assert_eq!(holds(&changed, signed.signature.as_str(), &keys), same);
        }
    }
}

fn example() -> (KeyPair, Signed<TakeDraft>) {
    let text = br#"{"memberId":"m-1","date":"2026-03-02","subjectId":"aurora","nonce":"n-1",
        "stance":"neutral","confidence":0.25,"body":"as is",
        "weights":[{"bucket":"a","weight":3}]}"#;
    let keys = KeyPair::from_seed(&[7; 32]);
    let signed = keys.sign(read_draft(text).unwrap());
    (keys, signed)
}

/// All 88 characters of a signature, each replaced by every other one that base64 has.
#[test]
fn a_signature_has_one_text() {
    let (keys, signed) = example();
    let text = signed.signature.as_str().as_bytes();
    assert!(holds(&signed.payload, signed.signature.as_str(), &keys));
    for at in 0..text.len() {
        for letter in LETTERS.iter().filter(|letter| **letter != text[at]) {
            let mut changed = text.to_vec();
            changed[at] = *letter;
            let changed = String::from_utf8(changed).unwrap();
            assert!(!holds(&signed.payload, &changed, &keys), "{changed}");
        }
    }
}

/// Every bit of the canonical text, flipped: the signature holds only where that is another way to
/// write the same draft, an unknown field (`memoUrm`) in place of `memoUrl`, which is empty.
#[test]
fn a_signature_holds_for_one_draft() {
    let (keys, signed) = example();
    let text = canonical(&signed.payload);
    let (mut other, mut same) = (0, 0);
    for bit in 0..text.len() * 8 {
        let mut bytes = text.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Some(changed) = read_draft(&bytes) else { continue };
        let is_same = canonical(&changed) == text;
        assert_eq!(holds(&changed, signed.signature.as_str(), &keys), is_same, "{changed:?}");
        *(if is_same { &mut same } else { &mut other }) += 1;
    }
    assert_eq!((other, same), (281, 48));
}
