//! Signed notes of C2SP: a text with the signatures of named keys below it, and the cosignatures
//! of witnesses (API.md, 11.6).
//!
//! A signature names its key and carries the key's id. A verifier checks the signatures of the keys
//! that it trusts, and ignores all others.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest, Sha256};

use super::verify_signature;
use crate::domain::{Invalid, PublicKey, Signature};

/// The beginning of a line of a signature: an em dash and a space.
const DASH: &str = "\u{2014} ";

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// The text of a note: the key of a log.
    Ed25519,
    /// The text of a checkpoint with a time: the key of a witness.
    Cosigner,
}

impl KeyKind {
    fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => 1,
            Self::Cosigner => 4,
        }
    }
}

/// A verifier key: a public key with its name. Its text is `<name>+<id>+<base64>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    kind: KeyKind,
    key: PublicKey,
}

impl VerifierKey {
    /// The key with this name.
    ///
    /// # Errors
    /// [`Invalid`] when the name is empty, or has white space or a `+` in it.
    pub fn new(name: &str, kind: KeyKind, key: PublicKey) -> Result<Self, Invalid> {
        if is_name(name) {
            return Ok(Self { name: name.to_owned(), kind, key });
        }
        Err(Invalid::new("key", "its name must not be empty, nor have white space or + in it"))
    }

    /// Reads the text of a verifier key, of either kind.
    ///
    /// # Errors
    /// [`Invalid`] when it is none, or of another kind, or its id is not that of the key.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let key = read_key(text).filter(|key| key.to_string() == text);
        key.ok_or_else(|| Invalid::new("key", "must be a C2SP verifier key: <name>+<id>+<base64>"))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of the signatures that the key makes.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the id, with which signatures name it: the first 4 bytes of the SHA-256 of its name,
    /// a line feed, its kind and the public key.
    pub fn id(&self) -> [u8; 4] {
        let hash = Sha256::new()
            .chain_update(&self.name)
            .chain_update([b'\n', self.kind.byte()])
            .chain_update(self.key.as_bytes())
            .finalize();
        [hash[0], hash[1], hash[2], hash[3]]
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter == '+')
}

fn read_key(text: &str) -> Option<VerifierKey> {
    // The base64 may have a + in it, the name and the id have none.
    let mut parts = text.splitn(3, '+');
    let (name, _id, bytes) = (parts.next()?, parts.next()?, STANDARD.decode(parts.next()?).ok()?);
    let (kind, key) = bytes.split_first()?;
    let kind =
        [KeyKind::Ed25519, KeyKind::Cosigner].into_iter().find(|known| known.byte() == *kind)?;
    VerifierKey::new(name, kind, PublicKey::from_bytes(key.try_into().ok()?)?).ok()
}

impl std::fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = [&[self.kind.byte()], self.key.as_bytes().as_slice()].concat();
        write!(f, "{}+{:08x}+{}", self.name, u32::from_be_bytes(self.id()), STANDARD.encode(bytes))
    }
}

/// A text with signatures. The text ends with a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// A line of a signature below a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    name: String,
    id: [u8; 4],
    bytes: Vec<u8>,
}

impl SignedNote {
    /// A text that is not signed yet. It ends with a line feed.
    pub fn new(text: String) -> Self {
        Self { text, signatures: Vec::new() }
    }

    /// Reads a note. Nothing is verified.
    ///
    /// # Errors
    /// [`Invalid`] when it is none.
    pub fn parse(note: &str) -> Result<Self, Invalid> {
        let invalid = || match note.contains('\r') {
            true => {
                Invalid::new("note", "must be a C2SP signed note, whose lines end with LF alone")
            }
            false => Invalid::new("note", "must be a C2SP signed note"),
        };
        let is_plain = !note.contains(|letter: char| letter.is_control() && letter != '\n');
        let (text, lines) = note.rsplit_once("\n\n").filter(|_| is_plain).ok_or_else(invalid)?;
        let lines = lines.strip_suffix('\n').ok_or_else(invalid)?;
        let signatures = lines.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Returns the signed text, with its last line feed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signatures.
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Removes the signatures for which this holds.
    pub fn remove(&mut self, is_removed: impl Fn(&NoteSignature) -> bool) {
        self.signatures.retain(|signature| !is_removed(signature));
    }

    /// Appends a signature.
    pub fn push(&mut self, signature: NoteSignature) {
        self.signatures.push(signature);
    }

    /// Returns whether `key` signed the text: at least one signature names this key, and every one that
    /// does is valid.
    pub fn is_signed_by(&self, key: &VerifierKey) -> bool {
        let mut own = self.signatures.iter().filter(|line| line.is_of(key)).peekable();
        own.peek().is_some() && own.all(|line| line.verify(&self.text, key).is_some())
    }

    /// When a witness with this key cosigned the text, in seconds since 1970: the latest of its
    /// signatures. `None` if it did not, or if a signature that names this key is invalid.
    pub fn cosigned_at(&self, key: &VerifierKey) -> Option<u64> {
        let is_signed = key.kind == KeyKind::Cosigner && self.is_signed_by(key);
        let own = self.signatures.iter().filter(|line| is_signed && line.is_of(key));
        own.filter_map(|line| line.verify(&self.text, key)).max()
    }
}

impl std::fmt::Display for SignedNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

impl NoteSignature {
    /// Reads the line of a signature, without its line feed.
    ///
    /// # Errors
    /// [`Invalid`] when it is none.
    pub fn parse(line: &str) -> Result<Self, Invalid> {
        read_signature(line)
            .ok_or_else(|| Invalid::new("note", "must have lines of signatures: — <name> <base64>"))
    }

    /// Returns the name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id of the key.
    pub fn key_id(&self) -> [u8; 4] {
        self.id
    }

    /// Returns the bytes after the id: of a cosignature the time, then the signature.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether the signature claims to be made with this key.
    pub fn is_of(&self, key: &VerifierKey) -> bool {
        self.name == key.name && self.id == key.id()
    }

    /// Verifies the signature over the text of a note, and returns its time in seconds since 1970:
    /// 0 where the key is of the kind that signs none.
    fn verify(&self, text: &str, key: &VerifierKey) -> Option<u64> {
        let (time, signature) = match key.kind {
            KeyKind::Ed25519 => (0, self.bytes.as_slice()),
            KeyKind::Cosigner => {
                let (_, signature) = self.bytes.split_first_chunk::<TIME>()?;
                (cosigning_time(&self.bytes)?, signature)
            }
        };
        let signature = Signature::parse(STANDARD.encode(signature)).ok()?;
        let message = message(key.kind, text, time);
        verify_signature(message.as_bytes(), &signature, &key.key).then_some(time)
    }
}

/// The length of the time before a cosignature, in bytes.
pub(super) const TIME: usize = 8;

/// The time of a cosignature, in seconds since 1970. `None` of what is none: 0 stands for no time, and times end below 2^63.
pub(super) fn cosigning_time(cosignature: &[u8]) -> Option<u64> {
    let time = u64::from_be_bytes(*cosignature.first_chunk::<TIME>()?);
    (time > 0 && i64::try_from(time).is_ok()).then_some(time)
}

/// The text that is signed.
fn message(kind: KeyKind, text: &str, time: u64) -> String {
    match kind {
        KeyKind::Ed25519 => text.to_owned(),
        KeyKind::Cosigner => format!("cosignature/v1\ntime {time}\n{text}"),
    }
}

fn read_signature(line: &str) -> Option<NoteSignature> {
    let (name, encoded) = line.strip_prefix(DASH)?.split_once(' ')?;
    let bytes = STANDARD.decode(encoded).ok()?;
    let (id, bytes) = bytes.split_first_chunk()?;
    let is_signature = is_name(name) && !bytes.is_empty();
    is_signature.then(|| NoteSignature { name: name.to_owned(), id: *id, bytes: bytes.to_vec() })
}

impl std::fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = [&self.id, self.bytes.as_slice()].concat();
        write!(f, "{DASH}{} {}", self.name, STANDARD.encode(bytes))
    }
}

/// A private key with its name. It is zeroed when dropped, and `Debug` hides it.
pub struct NoteSigner {
    key: SigningKey,
    verifier: VerifierKey,
}

impl NoteSigner {
    /// The key of a 32-byte Ed25519 seed.
    ///
    /// # Errors
    /// [`Invalid`] when the name is empty, or has white space or a `+` in it.
    pub fn new(name: &str, kind: KeyKind, seed: &[u8; 32]) -> Result<Self, Invalid> {
        let key = SigningKey::from_bytes(seed);
        let public = PublicKey::from_bytes(key.verifying_key().as_bytes());
        let public = public.ok_or_else(|| Invalid::new("key", "must be a strong key"))?;
        Ok(Self { key, verifier: VerifierKey::new(name, kind, public)? })
    }

    /// Returns the verifier key.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Returns the signature under the text of a note. A witness signs it with a time in seconds
    /// since 1970; for a log it has no meaning.
    pub fn sign(&self, text: &str, time: u64) -> NoteSignature {
        let kind = self.verifier.kind;
        let signature = self.sign_bytes(message(kind, text, time).as_bytes());
        let bytes = match kind {
            KeyKind::Ed25519 => signature.to_vec(),
            KeyKind::Cosigner => [time.to_be_bytes().as_slice(), &signature].concat(),
        };
        NoteSignature { name: self.verifier.name.clone(), id: self.verifier.id(), bytes }
    }

    /// Returns the signature over these bytes, for data other than a note.
    pub fn sign_bytes(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}

impl std::fmt::Debug for NoteSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoteSigner({})", self.verifier)
    }
}
