//! Signatures verify only for the signed bytes, and in a single encoding.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use proptest::sample::Index;
use swarm_core::TakeDraft;
use swarm_core::domain::{Signature, Signed};
use swarm_core::json::Json;
use swarm_core::proof::{KeyPair, canonical, verify};

use crate::vectors::drafts::draft;

/// The alphabet of standard base64.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

fn holds(payload: &TakeDraft, signature: &str, keys: &KeyPair) -> bool {
    let key = keys.public_key();
    let signature = Signature::parse(signature).unwrap();
    verify(&Arc::new(Signed { payload: payload.clone(), signature }), &key).is_some()
}

fn read_draft(bytes: &[u8]) -> Option<TakeDraft> {
    TakeDraft::read(&mut Json::read(bytes).ok()?.into_object()).ok()
}

proptest! {
    #[test]
    fn signature_verifies_only_with_its_key(
        draft in draft(), seed in any::<[u8; 32]>(), other in any::<[u8; 32]>(),
    ) {
        prop_assume!(seed != other);
        let keys = KeyPair::from_seed(&seed);
        let signed = keys.sign(draft.clone());
        prop_assert!(holds(&draft, signed.signature.as_str(), &keys));
        prop_assert!(!holds(&draft, signed.signature.as_str(), &KeyPair::from_seed(&other)));
    }

    #[test]
    fn signature_with_changed_byte_does_not_verify(
        draft in draft(), seed in any::<[u8; 32]>(), at in any::<Index>(), flip in 1..=255_u8,
    ) {
        let keys = KeyPair::from_seed(&seed);
        let signed = keys.sign(draft);
        let mut bytes = STANDARD.decode(signed.signature.as_str()).unwrap();
        *at.get_mut(&mut bytes) ^= flip;
        prop_assert!(!holds(&signed.payload, &STANDARD.encode(bytes), &keys));
    }

    /// With a changed byte, the canonical text does not parse, or the signature does not verify,
    /// unless the text is another way to write the same draft (`1E-7`).
    #[test]
    fn payload_with_changed_byte_does_not_verify(
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

/// Replaces each of the 88 characters of a signature by every other one of base64.
#[test]
fn signature_has_a_unique_base64_text() {
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

/// Flips every bit of the canonical text. The signature verifies only if the text is another way to
/// write the same draft, such as an unknown field (`memoUrm`) in place of the empty `memoUrl`.
#[test]
fn signature_holds_for_one_draft_only() {
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
