//! The signature doctor: what was done wrong where a signature does not hold (API.md, 9.4).
//!
//! It looks at what was sent, tries what people really do, and says which of it verifies. It reads
//! no store and keeps nothing; it never calls verified what a strict verification refuses.

mod body;
mod candidates;
mod code;
mod differences;
mod encodings;
mod render;
mod shapes;

use std::collections::HashSet;

use ed25519_dalek::Signature;
use serde::Serialize;

use crate::domain::{Invalid, PublicKey};
use encodings::Decoded;

pub use body::{PayloadKind, SignedBody};
pub use code::Code;

/// The most signatures that one diagnosis verifies.
pub const VERIFICATIONS: usize = 64;

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What kind of payload it was taken for.
    pub kind: PayloadKind,
    /// Whether the signature holds, as strictly as the service asks for.
    pub verified: bool,
    /// The text that should have been signed.
    pub canonical: String,
    /// What was done otherwise; empty when, and only when, it is verified.
    pub findings: Vec<Finding>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which one.
    pub code: Code,
    /// The same for people, with what to do.
    pub message: &'static str,
}

/// Says what is wrong with the signature in `body`. `registered` is the key that its member has on
/// file; a key in the body counts where there is none.
///
/// # Errors
/// [`Invalid`] when there is no key to check the signature with.
pub fn diagnose(body: &SignedBody, registered: Option<&PublicKey>) -> Result<Diagnosis, Invalid> {
    if registered.is_none() && body.public_key().is_none() {
        return Err(Invalid::missing("publicKey"));
    }
    let keys = keys(registered, encodings::keys(body.public_key()));
    let verified = body.holds(registered);
    let (key, codes) = if verified { (0, Vec::new()) } else { mistakes(body, &keys) };
    let findings = codes.into_iter().map(|code| Finding { code, message: code.message() });
    Ok(Diagnosis {
        kind: body.kind(),
        verified,
        canonical: body.canonical(keys.get(key).map(|key| &key.value)),
        findings: findings.collect(),
    })
}

/// The keys to try, the one that counts first.
fn keys(
    registered: Option<&PublicKey>,
    mut sent: Vec<Decoded<PublicKey>>,
) -> Vec<Decoded<PublicKey>> {
    let Some(registered) = registered else { return sent };
    sent.retain(|key| key.value != *registered);
    for key in &mut sent {
        key.codes.insert(0, Code::OtherKey);
    }
    sent.insert(0, Decoded { codes: Vec::new(), value: registered.clone() });
    sent
}

/// The key that explains the signature, by its place, and all that was done wrong. What is wrong
/// with how signature and key are written is certain, whatever was signed.
fn mistakes(body: &SignedBody, keys: &[Decoded<PublicKey>]) -> (usize, Vec<Code>) {
    let signature = encodings::signature(body.signature());
    let mut codes = signature.as_ref().map_or_else(Vec::new, |found| found.codes.clone());
    let found = signature.and_then(|found| Verifications::new(found.value).find(body, keys));
    let (key, reading) = found.unwrap_or((0, vec![Code::Unknown]));
    codes.extend(keys.get(key).into_iter().flat_map(|key| key.codes.clone()));
    codes.extend(reading);
    (key, codes)
}

/// The verifications of one diagnosis: none is made twice, and there are [`VERIFICATIONS`] at most.
struct Verifications {
    signature: Signature,
    made: HashSet<(usize, Vec<u8>)>,
}

impl Verifications {
    fn new(signature: Signature) -> Self {
        Self { signature, made: HashSet::new() }
    }

    /// The first key that the signature holds by, by its place, and what was signed in place of the
    /// canonical text: that text by each key, then everything else by the key that counts first.
    ///
    /// An application contains its key. One that was written in another way may have been signed
    /// as it was written, or as it should be.
    fn find(
        &mut self,
        body: &SignedBody,
        keys: &[Decoded<PublicKey>],
    ) -> Option<(usize, Vec<Code>)> {
        for (at, Decoded { value: key, .. }) in keys.iter().enumerate() {
            for text in [body.canonical(Some(key)), body.canonical(None)] {
                if self.holds(at, key, text.into_bytes()) {
                    return Some((at, Vec::new()));
                }
            }
        }
        let Decoded { value: first, .. } = keys.first()?;
        candidates::all().find_map(|candidate| {
            let message = candidate.message(body.sent())?;
            self.holds(0, first, message).then(|| (0, candidate.codes(body.sent())))
        })
    }

    fn holds(&mut self, at: usize, key: &PublicKey, message: Vec<u8>) -> bool {
        let message = (at, message);
        if self.made.len() == VERIFICATIONS || self.made.contains(&message) {
            return false;
        }
        let holds = key.verifying_key().verify_strict(&message.1, &self.signature).is_ok();
        self.made.insert(message);
        holds
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer as _, SigningKey};

    use super::*;

    fn signed_by(key: &SigningKey, message: &[u8]) -> (Verifications, PublicKey) {
        let public = PublicKey::from_bytes(key.verifying_key().as_bytes()).unwrap();
        (Verifications::new(key.sign(message)), public)
    }

    #[test]
    fn what_was_verified_once_is_not_verified_again() {
        let (mut verifications, key) = signed_by(&SigningKey::from_bytes(&[7; 32]), b"text");
        assert!(verifications.holds(0, &key, b"text".to_vec()));
        assert!(!verifications.holds(0, &key, b"text".to_vec()));
        assert!(verifications.holds(1, &key, b"text".to_vec()), "by another key");
    }

    #[test]
    fn one_diagnosis_verifies_so_many_signatures_and_no_more() {
        for (others, is_verified) in [(VERIFICATIONS - 1, true), (VERIFICATIONS, false)] {
            let (mut verifications, key) = signed_by(&SigningKey::from_bytes(&[7; 32]), b"text");
            for other in 0..others {
                assert!(!verifications.holds(0, &key, other.to_string().into_bytes()));
            }
            assert_eq!(verifications.holds(0, &key, b"text".to_vec()), is_verified);
        }
    }
}
