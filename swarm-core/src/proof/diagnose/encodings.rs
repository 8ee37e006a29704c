//! Lenient decoding of signatures and keys, and the mistakes in their encoding.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ed25519_dalek::{Signature, SigningKey};

use super::code::Code;
use crate::domain::PublicKey;
use crate::domain::json::{self, Json, is_unprintable};

/// A decoded value, and the mistakes in its encoding.
#[derive(Clone, Debug)]
pub(super) struct Decoded<T> {
    pub(super) codes: Vec<Code>,
    pub(super) value: T,
}

impl Decoded<PublicKey> {
    /// Whether this is the public key of what was sent, read as a private key.
    pub(super) fn is_private(&self) -> bool {
        self.codes.contains(&Code::KeyIsPrivate)
    }
}

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Decodes a signature from any encoding of its 64 bytes, which the message may follow.
pub(super) fn signature(text: &str) -> Option<Decoded<Signature>> {
    let read = restored(text, 64);
    // What is in another encoding may be readable as a few bytes more, and no message behind a signature is so short.
    if read.as_ref().is_none_or(|(_, _, bytes)| bytes.len() > 64)
        && let Some(signature) = in_other_encoding(text)
    {
        let codes = vec![Code::SignatureEncoding];
        return Some(Decoded { codes, value: Signature::from_bytes(&signature) });
    }
    let mut codes = Vec::new();
    let (dense, form, bytes) = read?;
    if dense != text {
        codes.push(Code::SignatureWhitespace);
    }
    let written: &[Code] = match form {
        Form::Standard => &[],
        Form::Hex => &[Code::SignatureHex],
        Form::UrlSafe if dense.len().is_multiple_of(4) => &[Code::SignatureBase64url],
        Form::UrlSafe => &[Code::SignatureBase64url, Code::SignatureUnpadded],
        Form::Unpadded => &[Code::SignatureUnpadded],
    };
    codes.extend(written);
    // Base64 of a text that encodes the signature.
    let inner = std::str::from_utf8(&bytes).ok().and_then(|text| restored(text, 64));
    let bytes = match inner {
        Some((_, Form::Hex, inner)) => {
            codes.push(Code::SignatureHex);
            inner
        }
        Some((_, _, inner)) if inner.len() == 64 => {
            codes.push(Code::SignatureEncoding);
            inner
        }
        _ => bytes,
    };
    let (signature, rest) = bytes.split_first_chunk::<64>()?;
    if !rest.is_empty() {
        codes.push(Code::SignatureAttached);
    }
    Some(Decoded { codes, value: Signature::from_bytes(signature) })
}

/// Reads 64 bytes in a list of numbers, in base58, or behind the letter of multibase.
fn in_other_encoding(text: &str) -> Option<[u8; 64]> {
    let text = dense(text);
    let list = format!("[{}]", text.trim_matches(['[', ']']));
    if let Ok(Json::List(items)) = Json::read(list.as_bytes()) {
        return numbers(&items)?.try_into().ok();
    }
    let multibase = || {
        let (_, bytes) = bytes(text.strip_prefix(['m', 'M', 'u', 'U', 'f', 'F'])?)?;
        <[u8; 64]>::try_from(bytes).ok()
    };
    base58(&text).or_else(|| base58(text.strip_prefix('z')?)).or_else(multibase)
}

/// The text without what was put around it or into it, how it encodes bytes, and these; `None` if it encodes fewer than `least`.
fn restored(text: &str, least: usize) -> Option<(String, Form, Vec<u8>)> {
    let unescaped = unescaped(text);
    // Where forms are decoded, a plus is a space.
    let forms = [dense(&unescaped), dense(&unescaped.replace(' ', "+"))];
    forms.into_iter().find_map(|dense| {
        let (form, bytes) = bytes(&dense).filter(|(_, bytes)| bytes.len() >= least)?;
        Some((dense, form, bytes))
    })
}

/// The text without the escapes of URLs, and without the `b` before a text of bytes in Python.
fn unescaped(text: &str) -> String {
    let bytes = text.trim().strip_prefix('b').filter(|rest| rest.starts_with(['"', '\'']));
    let escapes =
        [("%2B", "+"), ("%2b", "+"), ("%2F", "/"), ("%2f", "/"), ("%3D", "="), ("%3d", "=")];
    let text = bytes.unwrap_or(text).to_owned();
    escapes.iter().fold(text, |text, (escape, letter)| text.replace(escape, letter))
}

/// The text without white space, and without what files, shells and pages leave around it: quotes, a byte order mark and
/// other characters that are not shown.
fn dense(text: &str) -> String {
    let is_part = |character: &char| {
        !character.is_whitespace()
            && !character.is_control()
            && !is_unprintable(*character)
            && !matches!(character, '"' | '\'')
    };
    text.chars().filter(is_part).collect()
}

/// The public keys that `text` may encode, the likeliest first.
pub(super) fn keys(text: Option<&str>) -> Vec<Decoded<PublicKey>> {
    let Some(text) = text else { return Vec::new() };
    let text = &*unwrapped(text);
    if let Some(seed) = seed(text) {
        return of_bytes(&[PKCS8, &seed].concat(), &[], &[]);
    }
    if let Some(inside) = armoured(text) {
        let inner = STANDARD.decode(inside).unwrap_or_default();
        return of_bytes(&inner, &[Code::KeyPem], &[]);
    }
    if let Some(key) = of_jwk(text) {
        return of_bytes(&[SPKI, key.as_slice()].concat(), &[Code::KeyBase64url], &[]);
    }
    let Some((dense, form, bytes)) = restored(text, 32) else { return Vec::new() };
    let written: &[Code] = match form {
        Form::Standard if dense == text => &[],
        Form::Hex => &[Code::KeyHex],
        Form::Standard | Form::UrlSafe | Form::Unpadded => &[Code::KeyBase64url],
    };
    of_bytes(&bytes, written, &[Code::KeyDer])
}

/// The DER prefix of an Ed25519 public key (RFC 8410), before its 32 bytes.
const SPKI: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// What precedes the 32 bytes of a public key in a line of OpenSSH.
const OPENSSH: &[u8] = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

/// The DER prefix of an Ed25519 private key, before its seed.
const PKCS8: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

fn of_bytes(bytes: &[u8], written: &[Code], wrapped: &[Code]) -> Vec<Decoded<PublicKey>> {
    let public = |raw: &[u8], codes: &[&[Code]]| {
        let key = raw.try_into().ok().and_then(PublicKey::from_bytes)?;
        Some(Decoded { codes: codes.concat(), value: key })
    };
    let private = |seed: &[u8]| {
        let pair = SigningKey::from_bytes(seed.try_into().ok()?);
        public(pair.verifying_key().as_bytes(), &[written, &[Code::KeyIsPrivate]])
    };
    let found = match bytes.len() {
        32 => [public(bytes, &[written]), private(bytes)],
        // A seed, followed by its public key.
        64 => [private(&bytes[..32]), None],
        _ => [
            [SPKI, OPENSSH]
                .iter()
                .find_map(|prefix| bytes.strip_prefix(*prefix))
                .and_then(|raw| public(raw, &[written, wrapped])),
            bytes.strip_prefix(PKCS8).and_then(private),
        ],
    };
    found.into_iter().flatten().collect()
}

/// The base64 of a line of OpenSSH, and the PEM file in a text of base64; other texts as they are.
fn unwrapped(text: &str) -> Cow<'_, str> {
    if let Some(rest) = text.trim_start().strip_prefix("ssh-ed25519 ") {
        return rest.split_whitespace().next().unwrap_or_default().into();
    }
    let file = STANDARD.decode(dense(text)).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match file.filter(|file| armoured(file).is_some()) {
        Some(file) => file.into(),
        None => text.into(),
    }
}

/// The bytes of the public key in a JWK; `None` for one of another curve.
fn of_jwk(text: &str) -> Option<Vec<u8>> {
    let Json::Object(mut jwk) = Json::read(text.trim().as_bytes()).ok()? else { return None };
    let x = jwk.text("crv").is_ok_and(|curve| curve == "Ed25519").then(|| jwk.text("x"))?.ok()?;
    let raw = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT).decode(x).ok()?;
    Some(raw).filter(|raw| raw.len() == 32)
}

/// The seed in a private key as other programs keep it: as OpenSSH, as a JWK, or with its public key behind it as a list of
/// numbers (Solana) or in base58 (Solana, NEAR).
fn seed(text: &str) -> Option<[u8; 32]> {
    if let Some(inside) = armoured(text) {
        let bytes = STANDARD.decode(inside).ok()?;
        let content = bytes.strip_prefix(b"openssh-key-v1\0")?;
        let pair = content.windows(68).find_map(|it| it.strip_prefix(&64_u32.to_be_bytes()))?;
        return seed_of_pair(pair);
    }
    let text = text.trim();
    match Json::read(text.as_bytes()) {
        Ok(Json::Object(mut jwk)) => {
            let secret = jwk.text("d").ok()?;
            let engine = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
            engine.decode(secret).ok()?.try_into().ok()
        }
        Ok(Json::List(items)) => seed_of_pair(&numbers(&items)?),
        _ => {
            let dense = dense(text);
            seed_of_pair(&base58(dense.strip_prefix("ed25519:").unwrap_or(&dense))?)
        }
    }
}

/// The bytes in a list of numbers.
fn numbers(items: &[Json]) -> Option<Vec<u8>> {
    let byte = |item: &Json| match item {
        Json::Number(number) => json::write(number).parse().ok(),
        _ => None,
    };
    items.iter().map(byte).collect()
}

/// The seed before its public key; `None` for other bytes.
fn seed_of_pair(pair: &[u8]) -> Option<[u8; 32]> {
    let pair = SigningKey::from_keypair_bytes(pair.try_into().ok()?).ok()?;
    Some(pair.to_bytes())
}

/// Reads 64 bytes in the base58 of Bitcoin.
fn base58(text: &str) -> Option<[u8; 64]> {
    const DIGITS: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    const LENGTHS: RangeInclusive<usize> = 64..=88;
    let mut number = [0; 64];
    let text = Some(text).filter(|text| LENGTHS.contains(&text.len()))?;
    for digit in text.chars() {
        let mut carry = DIGITS.find(digit)?;
        for byte in number.iter_mut().rev() {
            carry += 58 * usize::from(*byte);
            *byte = u8::try_from(carry % 256).ok()?;
            carry /= 256;
        }
        // More than 64 bytes.
        (carry == 0).then_some(())?;
    }
    Some(number)
}

/// What is wrong with a text that encodes no public key.
pub(super) fn key_fault(text: &str) -> &'static str {
    let text = &*unwrapped(text);
    let is_private = seed(text).is_some();
    let dense = dense(text);
    let bytes = match armoured(text) {
        Some(inside) => STANDARD.decode(inside).unwrap_or_default(),
        None => bytes(&dense).map(|(_, bytes)| bytes).unwrap_or_default(),
    };
    if bytes.len() == 32 || bytes.starts_with(SPKI) || bytes.starts_with(OPENSSH) {
        "publicKey: its 32 bytes are no valid point of Ed25519, or a weak one (of small order): no signature can be \
         verified with it"
    } else if is_private || bytes.starts_with(PKCS8) || seed_of_pair(&bytes).is_some() {
        "publicKey: has the form of a private key, which must never be sent: send base64 of the 32 raw bytes of the \
         public key, and of another pair if this key is in use"
    } else {
        "publicKey: must be base64 of the 32 raw bytes of a strong Ed25519 key"
    }
}

enum Form {
    Standard,
    Hex,
    UrlSafe,
    Unpadded,
}

fn bytes(text: &str) -> Option<(Form, Vec<u8>)> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_whole = digits.len() >= 64 && digits.len().is_multiple_of(2);
    if is_whole && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Some((Form::Hex, hexadecimal(digits)));
    }
    if let Ok(bytes) = STANDARD.decode(text) {
        return Some((Form::Standard, bytes));
    }
    if text.contains(['-', '_']) {
        let bytes = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT).decode(text).ok()?;
        return Some((Form::UrlSafe, bytes));
    }
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(text).ok()?;
    Some((Form::Unpadded, bytes))
}

fn hexadecimal(digits: &str) -> Vec<u8> {
    let nibble = |digit: char| digit.to_digit(16).and_then(|value| u8::try_from(value).ok());
    let digits: Vec<u8> = digits.chars().filter_map(nibble).collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| 16 * byte + digit))
        .collect()
}

/// The base64 between the header and the footer of a PEM file.
fn armoured(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (_, rest) = rest.split_once("-----")?;
    let (inside, _) = rest.split_once("-----END ")?;
    // Line breaks may have been sent as a backslash and an `n`.
    Some(inside.replace("\\n", "").split_whitespace().collect())
}
