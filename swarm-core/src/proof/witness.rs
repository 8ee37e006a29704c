//! The keys of witnesses, and the bodies of requests and answers of `add-checkpoint` in C2SP `tlog-witness` (API.md, 11.6).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::note::{KeyKind, NoteSignature, SignedNote, TIME, VerifierKey, cosigning_time};
use super::tree::TreeHash;
use crate::domain::Invalid;

/// The key that a witness cosigns with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WitnessKey {
    /// A key whose cosignatures are verified here.
    Ed25519(VerifierKey),
    /// A key of ML-DSA-44, whose cosignatures are passed on: whoever relies on them verifies them.
    MlDsa44(UnverifiedKey),
}

/// A key whose cosignatures this program cannot verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnverifiedKey {
    name: String,
    id: [u8; 4],
    /// The whole verifier key.
    text: String,
}

/// The kind of a key of ML-DSA-44 in its verifier key, and the lengths of the key and of a signature, in bytes.
const ML_DSA_44: u8 = 6;
const ML_DSA_44_KEY: usize = 1_312;
const ML_DSA_44_SIGNATURE: usize = 2_420;

impl WitnessKey {
    /// Reads the C2SP verifier key of a witness.
    ///
    /// # Errors
    /// [`Invalid`] when it is none, or of another kind, or its id is not that of the key.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let key = VerifierKey::parse(text).ok().filter(|key| key.kind() == KeyKind::Cosigner);
        let key = key.map(Self::Ed25519);
        let key = key.or_else(|| UnverifiedKey::parse(text).map(Self::MlDsa44));
        key.ok_or_else(|| {
            Invalid::new(
                "key",
                "must be the verifier key of a witness, <name>+<id>+<base64> of type 4 or 6",
            )
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Ed25519(key) => key.name(),
            Self::MlDsa44(key) => &key.name,
        }
    }

    /// Returns whether the signature claims to be made with this key.
    pub fn made(&self, signature: &NoteSignature) -> bool {
        match self {
            Self::Ed25519(key) => signature.is_of(key),
            Self::MlDsa44(key) => signature.name() == key.name && signature.key_id() == key.id,
        }
    }

    /// Returns whether a signature is a cosignature of this text with this key, as far as it can be verified here.
    pub fn cosigned(&self, text: &str, signature: &NoteSignature) -> bool {
        let verified = |key| {
            let mut note = SignedNote::new(text.to_owned());
            note.push(signature.clone());
            note.cosigned_at(key).is_some()
        };
        self.made(signature)
            && match self {
                Self::Ed25519(key) => verified(key),
                Self::MlDsa44(_) => {
                    signature.bytes().len() == TIME + ML_DSA_44_SIGNATURE
                        && cosigning_time(signature.bytes()).is_some()
                }
            }
    }

    /// Returns when the text of a note was cosigned with this key, in seconds since 1970: the latest of its signatures.
    pub fn cosigned_at(&self, note: &SignedNote) -> Option<u64> {
        let own = note.signatures().iter().filter(|it| self.cosigned(note.text(), it));
        own.filter_map(|it| cosigning_time(it.bytes())).max()
    }
}

impl UnverifiedKey {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '+');
        let (name, id, encoded) = (parts.next()?, parts.next()?, parts.next()?);
        let bytes = STANDARD.decode(encoded).ok()?;
        let (kind, key) = bytes.split_first()?;
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if *kind != ML_DSA_44 || key.len() != ML_DSA_44_KEY || !is_name {
            return None;
        }
        let hash = Sha256::new().chain_update(name).chain_update([b'\n']).chain_update(&bytes);
        let own = *hash.finalize().first_chunk()?;
        let is_own = format!("{:08x}", u32::from_be_bytes(own)) == id;
        is_own.then(|| Self { name: name.to_owned(), id: own, text: text.to_owned() })
    }
}

impl std::fmt::Display for WitnessKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ed25519(key) => key.fmt(f),
            Self::MlDsa44(key) => f.write_str(&key.text),
        }
    }
}

/// Returns the body of a request: the size up to which the witness has cosigned the log, the proof that the
/// checkpoint continues it, and the checkpoint.
pub fn add_checkpoint(old: u64, proof: &[TreeHash], checkpoint: &SignedNote) -> String {
    let proof: String = proof.iter().map(|hash| format!("{hash}\n")).collect();
    format!("old {old}\n{proof}\n{checkpoint}")
}

/// Reads the body of a 200: lines of cosignatures. Those by unknown keys are included.
///
/// # Errors
/// [`Invalid`] when it is something else.
pub fn read_cosignatures(body: &str) -> Result<Vec<NoteSignature>, Invalid> {
    let lines = body.strip_suffix('\n');
    let lines = lines.ok_or_else(|| Invalid::new("cosignatures", "must end with a line feed"))?;
    lines.split('\n').map(NoteSignature::parse).collect()
}

/// Reads the body of a 409: the size up to which the witness has cosigned the log; `None` for anything else.
pub fn read_size(body: &str) -> Option<u64> {
    let line = body.strip_suffix('\n').unwrap_or(body);
    line.parse::<u64>().ok().filter(|size| size.to_string() == line)
}

#[cfg(test)]
mod tests {
    use super::super::tlog_policy::TlogPolicy;
    use super::*;

    #[test]
    fn request_is_the_size_the_proof_and_the_checkpoint() {
        let note = "acme.example/log\n7\nAAAA\n\n\u{2014} acme.example/log AAAAAAA=\n";
        let note = SignedNote::parse(note).unwrap();
        let hash = TreeHash::empty();
        let body = add_checkpoint(3, &[hash, hash], &note);
        assert_eq!(body, format!("old 3\n{hash}\n{hash}\n\n{note}"));
        assert_eq!(add_checkpoint(0, &[], &note), format!("old 0\n\n{note}"));
    }

    #[test]
    fn cosignature_of_ml_dsa_44_is_passed_on() {
        let key_of = |kind: u8, length: usize| {
            let bytes = [&[kind], vec![7; length].as_slice()].concat();
            let hash = Sha256::new().chain_update("w.example\n").chain_update(&bytes).finalize();
            let id = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            format!("w.example+{id}+{}", STANDARD.encode(bytes))
        };
        let text = key_of(6, 1_312);
        let key = WitnessKey::parse(&text).unwrap();
        assert_eq!((key.name(), key.to_string()), ("w.example", text.clone()));
        let id = text.split('+').nth(1).unwrap();
        let id: Vec<u8> =
            (0..4).map(|at| u8::from_str_radix(&id[2 * at..][..2], 16).unwrap()).collect();
        let line = |name: &str, time: u64, length: usize| {
            let bytes = [&*id, &time.to_be_bytes(), &vec![1; length]].concat();
            NoteSignature::parse(&format!("\u{2014} {name} {}", STANDARD.encode(bytes))).unwrap()
        };
        let mut note = SignedNote::new("log\n7\nAAAA\n".to_owned());
        assert_eq!(key.cosigned_at(&note), None);
        for (line, is_one) in [
            (line("w.example", 70, 2_419), false),
            (line("other.example", 80, 2_420), false),
            (line("w.example", 0, 2_420), false),
            (line("w.example", 1 << 63, 2_420), false),
            (line("w.example", 90, 2_420), true),
        ] {
            assert_eq!(key.cosigned(note.text(), &line), is_one);
            note.push(line);
        }
        assert_eq!(key.cosigned_at(&note), Some(90));
        // A quorum is of cosignatures that are verified.
        let refused = TlogPolicy::parse(&format!("witness w {text}\nquorum w")).unwrap_err();
        assert!(refused.to_string().contains("line 1: the key is of ML-DSA-44"), "{refused}");
        for bad in [key_of(6, 32), key_of(5, 1_312), text.replace("w.example", "v.example")] {
            assert!(WitnessKey::parse(&bad).is_err());
        }
    }

    #[test]
    fn answers_of_witnesses_are_read() {
        assert_eq!((read_size("20\n"), read_size("0")), (Some(20), Some(0)));
        for bad in ["", "\n", "020\n", "+1\n", "1\n\n", "-1", "twenty"] {
            assert_eq!(read_size(bad), None, "{bad:?}");
        }
        let line = "\u{2014} witness.example AAAAAAA=\n";
        assert_eq!(read_cosignatures(&line.repeat(2)).unwrap().len(), 2);
        for bad in ["", "\n", line.trim_end(), &format!("{line}\n")] {
            assert!(read_cosignatures(bad).is_err(), "{bad:?}");
        }
    }
}
