//! Diagnosis: explains why a signature does not verify (API.md, 9.4).
//!
//! It tries common mistakes (another key order, white space, a signed digest …) and reports the one
//! that makes the signature verify. It reads no store and keeps no state. It never reports a
//! signature as verified that strict verification refuses.

mod body;
mod candidates;
mod code;
mod differences;
mod encodings;
mod render;
mod shapes;

use std::borrow::Cow;
use std::collections::HashSet;

use ed25519_dalek::Signature;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::canonical;
use crate::domain::json::Json;
use crate::domain::{Invalid, PublicKey, Signed, TakeDraft};
use encodings::Decoded;

pub use body::{PayloadKind, SignedBody};
pub use code::Code;

/// The maximum number of signature verifications in one diagnosis.
pub const MAX_VERIFICATIONS: usize = 256;

/// The number of bytes of candidates after which a diagnosis ends. All candidates of a body of 10,000 letters fit.
const MAX_WRITTEN: usize = 8 << 20;

/// The result of a diagnosis: the text that was signed instead of the canonical text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Diagnosis {
    /// The detected kind of payload.
    pub kind: PayloadKind,
    /// Whether the signature passes strict verification, so that submit would accept it.
    pub verified: bool,
    /// The text that should have been signed; `None` if fields of it are missing or invalid.
    pub canonical: Option<String>,
    /// The mistakes; if `verified` is true, none but that a private key was sent.
    pub findings: Vec<SigningMistake>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct SigningMistake {
    /// The code of the mistake.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("enum" = Code::ALL)))]
    pub code: Code,
    /// An explanation, and how to correct it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub message: Cow<'static, str>,
}

/// Diagnoses the body of a take that lacks fields or has invalid ones. `None` for a complete take, which is
/// a [`SignedBody`], and for other bodies.
pub fn diagnose_incomplete_take(body: &[u8]) -> Option<Diagnosis> {
    let fields = Json::read(body).ok()?.into_object();
    if !body::is_take(&fields) {
        return None;
    }
    let draft = TakeDraft::read(&mut fields.clone()).ok();
    let text = |field| match fields.get(field) {
        Some(Json::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let (public_key, signature) = (text("publicKey"), text("signature"));
    let is_private = has_private_key([public_key, signature], &encodings::keys(public_key));
    let (_, invalid) = Signed::<TakeDraft>::read_leniently(fields).ok()?;
    let private = is_private.then(|| SigningMistake::of(Code::KeyIsPrivate));
    (!invalid.is_empty()).then(|| Diagnosis {
        kind: PayloadKind::Take,
        verified: false,
        canonical: draft.map(|draft| canonical(&draft)),
        findings: private.into_iter().chain(invalid.iter().map(SigningMistake::of_field)).collect(),
    })
}

/// Finds what is wrong with the signature in `body`. `registered` is the registered key of the
/// member; without one, the key in the body counts.
///
/// # Errors
/// [`Invalid`] when there is no key to check the signature with.
pub fn diagnose(body: &SignedBody, registered: Option<&PublicKey>) -> Result<Diagnosis, Invalid> {
    if registered.is_none() && body.public_key().is_none() {
        return Err(Invalid::missing("publicKey"));
    }
    let keys = keys(registered, encodings::keys(body.public_key()));
    let verified = body.holds(registered);
    let (key, mut findings) =
        if verified { (keys.first(), Vec::new()) } else { mistakes(body, &keys) };
    if has_private_key([body.public_key(), Some(body.signature())], &keys) {
        findings.insert(0, SigningMistake::of(Code::KeyIsPrivate));
    }
    Ok(Diagnosis {
        kind: body.kind(),
        verified,
        canonical: Some(body.canonical(key.map(|key| &key.value))),
        findings,
    })
}

/// The keys to try, starting with the one that counts.
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

/// Whether the private key of one of these public keys was sent as the key or as the signature. That it is, the public key proves, whatever
/// was signed.
fn has_private_key(sent: [Option<&str>; 2], keys: &[Decoded<PublicKey>]) -> bool {
    let mut private = sent.into_iter().flat_map(encodings::keys).filter(Decoded::is_private);
    private.any(|pair| keys.iter().any(|key| !key.is_private() && key.value == pair.value))
}

/// The key that explains the signature, and all mistakes. Mistakes in the encoding of signature and
/// key are reported whatever was signed: those of the readings that verify, and without a proof
/// those that all readings have.
///
/// Any 32 bytes are the seed of a key pair. So a sent key is reported as a private key only if the
/// signature or [a public key](has_private_key) proves it. Without that proof, bytes that are no public key are an invalid field.
fn mistakes<'a>(
    body: &SignedBody,
    keys: &'a [Decoded<PublicKey>],
) -> (Option<&'a Decoded<PublicKey>>, Vec<SigningMistake>) {
    let signatures = encodings::signatures(body.signature());
    let with_keys = |signature| keys.iter().map(move |key| (signature, key));
    let pairs: Vec<_> = signatures.iter().flat_map(with_keys).collect();
    let found = Verifications::default().find(body, &pairs);
    let proven = found.and_then(|(at, signed)| Some((pairs.get(at)?, signed)));
    if let Some(((signature, key), signed)) = proven {
        let codes = signature.codes.iter().chain(&key.codes).copied().chain(signed);
        return (Some(*key), codes.map(SigningMistake::of).collect());
    }
    let mut codes = encodings::shared(signatures.iter());
    // Whether 64 of the bytes are a signature, only a verification shows.
    if codes.contains(&Code::SignatureAttached) {
        codes.clear();
    }
    let mut public = keys.iter().filter(|key| !key.is_private());
    codes.extend(encodings::shared(public.clone()));
    let mut findings: Vec<_> = codes.into_iter().map(SigningMistake::of).collect();
    let key = public.next();
    findings.push(match key {
        Some(_) => SigningMistake::of(Code::Unknown),
        None => SigningMistake {
            code: Code::InvalidField,
            message: encodings::key_fault(body.public_key().unwrap_or_default()).into(),
        },
    });
    (key, findings)
}

impl SigningMistake {
    fn of(code: Code) -> Self {
        Self { code, message: code.message().into() }
    }

    fn of_field(fault: &Invalid) -> Self {
        let message = format!("{}: {}", fault.field, fault.rule);
        Self { code: Code::InvalidField, message: message.into() }
    }
}

/// A reading of the signature, and one of the key.
type Pair<'a> = (&'a Decoded<Signature>, &'a Decoded<PublicKey>);

/// The verifications of one diagnosis: at most [`MAX_VERIFICATIONS`], without repetitions.
#[derive(Default)]
struct Verifications {
    /// The digest of each text, and the index of the pair.
    made: HashSet<(usize, [u8; 32])>,
    /// The number of bytes of all texts, repeated ones too.
    written: usize,
}

impl Verifications {
    /// The index of the first pair that holds, and the mistakes in the signed text. Tries the
    /// canonical text and the likely candidates with each pair, then every other candidate with the
    /// first one.
    ///
    /// An application contains its key. If that was encoded wrongly, the signed text may contain it
    /// as sent or corrected, so both are tried.
    fn find(&mut self, body: &SignedBody, pairs: &[Pair<'_>]) -> Option<(usize, Vec<Code>)> {
        for (at, pair) in pairs.iter().enumerate() {
            let (_, key) = pair;
            for text in [body.canonical(Some(&key.value)), body.canonical(None)] {
                if self.holds(at, *pair, text.as_bytes()) {
                    return Some((at, Vec::new()));
                }
            }
        }
        let (sent, first) = (body.sent(), pairs.get(..1)?);
        let likely = candidates::likely(sent).map(|candidate| (candidate, pairs));
        let others = candidates::others(sent).map(|candidate| (candidate, first));
        for (candidate, pairs) in likely.chain(others) {
            if self.is_exhausted() {
                return None;
            }
            let Some(message) = candidate.message(sent) else { continue };
            let mut pairs = pairs.iter().enumerate();
            if let Some((at, _)) = pairs.find(|(at, pair)| self.holds(*at, **pair, &message)) {
                return Some((at, candidate.codes(sent)));
            }
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.made.len() >= MAX_VERIFICATIONS || self.written >= MAX_WRITTEN
    }

    fn holds(&mut self, at: usize, (signature, key): Pair<'_>, message: &[u8]) -> bool {
        if self.is_exhausted() {
            return false;
        }
        self.written += message.len();
        let is_new = self.made.insert((at, Sha256::digest(message).into()));
        is_new && key.value.verifying_key().verify_strict(message, &signature.value).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer as _, SigningKey};

    use super::*;

    fn signed_by(key: &SigningKey, message: &[u8]) -> (Decoded<Signature>, Decoded<PublicKey>) {
        let public = PublicKey::from_bytes(key.verifying_key().as_bytes()).unwrap();
        let signature = Decoded { codes: Vec::new(), value: key.sign(message) };
        (signature, Decoded { codes: Vec::new(), value: public })
    }

    #[test]
    fn same_verification_is_not_repeated() {
        let (signature, key) = signed_by(&SigningKey::from_bytes(&[7; 32]), b"text");
        let mut verifications = Verifications::default();
        assert!(verifications.holds(0, (&signature, &key), b"text"));
        assert!(!verifications.holds(0, (&signature, &key), b"text"));
        assert!(verifications.holds(1, (&signature, &key), b"text"), "as another pair");
    }

    #[test]
    fn number_of_verifications_is_bounded() {
        let (signature, key) = signed_by(&SigningKey::from_bytes(&[7; 32]), b"text");
        for (others, is_verified) in [(MAX_VERIFICATIONS - 1, true), (MAX_VERIFICATIONS, false)] {
            let mut verifications = Verifications::default();
            for other in 0..others {
                let text = other.to_string();
                assert!(!verifications.holds(0, (&signature, &key), text.as_bytes()));
            }
            assert_eq!(verifications.holds(0, (&signature, &key), b"text"), is_verified);
        }
    }

    #[test]
    fn number_of_bytes_is_bounded() {
        let (signature, key) = signed_by(&SigningKey::from_bytes(&[7; 32]), b"text");
        for (others, is_verified) in [(MAX_WRITTEN - 1, true), (MAX_WRITTEN, false)] {
            let mut verifications = Verifications::default();
            assert!(!verifications.holds(0, (&signature, &key), &vec![0; others]));
            assert_eq!(verifications.holds(0, (&signature, &key), b"text"), is_verified);
        }
    }
}
