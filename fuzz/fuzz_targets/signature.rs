//! A signature verifies exactly when the strict verification of ed25519-dalek accepts it, for any bytes of
//! key and signature. Half of the inputs are signed first, so that some verify.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature as Raw, Signer, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use swarm_core::domain::{PublicKey, Signature};
use swarm_core::proof::verify_signature;

/// A key or its seed, a signature or what to change in one, whether to sign, and a message.
type Input<'a> = ([u8; 32], [u8; 64], bool, &'a [u8]);

fuzz_target!(|input: Input<'_>| {
    let (key, change, is_signed, message) = input;
    let (key, signature) = match is_signed {
        false => (key, change),
        true => {
            let signer = SigningKey::from_bytes(&key);
            let mut signature = signer.sign(message).to_bytes();
            signature.iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
            (signer.verifying_key().to_bytes(), signature)
        }
    };
    let strict = VerifyingKey::from_bytes(&key)
        .is_ok_and(|key| key.verify_strict(message, &Raw::from_bytes(&signature)).is_ok());
    let Ok(key) = PublicKey::parse(&STANDARD.encode(key)) else {
        return assert!(!strict, "a key that verifies is refused");
    };
    let signature = Signature::parse(STANDARD.encode(signature)).expect("a text of 64 bytes");
    assert_eq!(verify_signature(message, &signature, &key), strict);
});
