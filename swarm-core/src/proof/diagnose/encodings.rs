//! Lenient decoding of signatures and keys, and the mistakes in their encoding.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ed25519_dalek::{Signature, SigningKey};

use super::code::Code;
use crate::domain::json::{Json, Object, is_unprintable};
use crate::domain::{PublicKey, parse_any_hex};

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

/// The mistakes that all readings of a text have: without a proof, any of them may be the right one.
pub(super) fn shared<'a, T: 'a>(mut readings: impl Iterator<Item = &'a Decoded<T>>) -> Vec<Code> {
    let mut shared = readings.next().map_or_else(Vec::new, |first| first.codes.clone());
    for other in readings {
        shared.retain(|code| other.codes.contains(code));
    }
    shared
}

/// The signatures that `text` may encode, the likeliest first. The message may follow the 64 bytes, or it or a prefix may precede them.
pub(super) fn signatures(text: &str) -> Vec<Decoded<Signature>> {
    let mut readings = readings(text);
    // What is in another encoding may be readable as a few bytes more, and no message behind a signature is so short.
    if readings.iter().any(|reading| reading.bytes.len() == 64) {
        readings.retain(|reading| reading.bytes.len() == 64);
    }
    readings.iter().filter_map(Reading::signature).collect()
}

/// The public keys that `text` may encode, the likeliest first, and those that it may be the private key of after them.
pub(super) fn keys(text: Option<&str>) -> Vec<Decoded<PublicKey>> {
    let contents = text.map_or_else(Vec::new, contents);
    let mut keys: Vec<_> = contents.into_iter().flat_map(keys_in).collect();
    keys.sort_by_key(Decoded::is_private);
    keys
}

/// What is wrong with a text that encodes no public key.
pub(super) fn key_fault(text: &str) -> &'static str {
    let contents = contents(text);
    if contents.iter().any(|content| public_in(&content.value).is_some()) {
        "publicKey: its 32 bytes are no valid point of Ed25519, or a weak one (of small order): no signature can be \
         verified with it"
    } else if contents.iter().any(|content| seed_in(&content.value).is_some()) {
        "publicKey: has the form of a private key, which must never be sent: send base64 of the 32 raw bytes of the \
         public key, and of another pair if this key is in use"
    } else {
        "publicKey: must be base64 of the 32 raw bytes of a strong Ed25519 key"
    }
}

/// How a text encodes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Standard,
    Unpadded,
    UrlSafe,
    UrlSafeUnpadded,
    Hex,
    Other,
}

/// Bytes that a text may encode.
#[derive(Debug)]
struct Reading {
    form: Form,
    /// Whether the text contains nothing else.
    is_bare: bool,
    bytes: Vec<u8>,
}

impl Reading {
    fn signature(&self) -> Option<Decoded<Signature>> {
        let value = Signature::from_bytes(self.signature_bytes()?);
        let form: &[Code] = match self.form {
            Form::Standard => &[],
            Form::Unpadded => &[Code::SignatureUnpadded],
            Form::UrlSafe => &[Code::SignatureBase64url],
            Form::UrlSafeUnpadded => &[Code::SignatureBase64url, Code::SignatureUnpadded],
            Form::Hex => &[Code::SignatureHex],
            Form::Other => &[Code::SignatureEncoding],
        };
        let mut codes = form.to_vec();
        if !self.is_bare && self.form != Form::Other {
            codes.insert(0, Code::SignatureWhitespace);
        }
        codes.extend((self.bytes.len() > 64).then_some(Code::SignatureAttached));
        Some(Decoded { codes, value })
    }

    /// The last 64 bytes behind the prefix of Tink or minisign, or behind a message; else the first ones. Only one of them is tried, because the
    /// number of verifications is bounded.
    fn signature_bytes(&self) -> Option<&[u8; 64]> {
        let (first, behind) = self.bytes.split_first_chunk()?;
        let (ahead, last) = self.bytes.split_last_chunk()?;
        let is_object =
            |bytes: &[u8]| bytes.starts_with(b"{") && std::str::from_utf8(bytes).is_ok();
        // Tink writes a one, and the number of the key.
        let is_last = matches!(ahead, [1, _, _, _, _])
            || is_of_minisign(ahead)
            || (is_object(ahead) && !is_object(behind));
        Some(if is_last { last } else { first })
    }

    fn key(self) -> Decoded<Vec<u8>> {
        let codes = match self.form {
            Form::Standard if self.is_bare => Vec::new(),
            Form::Hex => vec![Code::KeyHex],
            Form::Other => vec![Code::KeyEncoding],
            _ => vec![Code::KeyBase64url],
        };
        Decoded { codes, value: self.bytes }
    }
}

/// The bytes that a text may encode, the likeliest first: also those in a text that it encodes.
fn readings(text: &str) -> Vec<Reading> {
    with_inner(direct_readings(text))
}

/// Returns these readings, preceded by the readings of those whose bytes are themselves a text.
fn with_inner(outer: Vec<Reading>) -> Vec<Reading> {
    let texts = outer.iter().filter_map(|reading| std::str::from_utf8(&reading.bytes).ok());
    let inner = texts.flat_map(direct_readings).map(|inner| Reading {
        form: if inner.form == Form::Hex { Form::Hex } else { Form::Other },
        is_bare: true,
        bytes: inner.bytes,
    });
    let mut readings: Vec<_> = inner.collect();
    readings.extend(outer);
    readings
}

/// The bytes that the text as a whole or its longest part may encode. A reading shorter than a key is left out.
fn direct_readings(text: &str) -> Vec<Reading> {
    let unescaped = unescaped(text);
    // Where forms are decoded, a plus is a space.
    let texts = [dense(&unescaped), dense(&unescaped.replace(' ', "+"))];
    let parts = texts.iter().flat_map(|whole| [&**whole, longest_part(whole)]);
    let in_parts = parts.flat_map(|part| {
        decodings(part).map(move |(form, bytes)| Reading { form, is_bare: part == text, bytes })
    });
    let listed =
        numbers(&unescaped).map(|bytes| Reading { form: Form::Other, is_bare: true, bytes });
    let mut readings: Vec<Reading> = Vec::new();
    for reading in listed.into_iter().chain(in_parts) {
        let is_new = readings.iter().all(|known| known.bytes != reading.bytes);
        if is_new && reading.bytes.len() >= 32 {
            readings.push(reading);
        }
    }
    readings
}

/// The text without the escapes that URLs, HTML and JSON have for what is no letter in base64.
fn unescaped(text: &str) -> String {
    let escapes = ['+', '/', '='].into_iter().flat_map(|letter| {
        let code = u32::from(letter);
        [
            format!("%{code:X}"),
            format!("%{code:x}"),
            format!("&#{code};"),
            format!("&#x{code:X};"),
            format!("\\u{code:04X}"),
            format!("\\u{code:04x}"),
            format!("\\{letter}"),
        ]
        .map(|escape| (escape, letter))
    });
    escapes.fold(text.to_owned(), |text, (escape, letter)| {
        text.replace(&escape, letter.encode_utf8(&mut [0; 4]))
    })
}

/// The text without white space, a byte order mark and other characters that are not shown.
fn dense(text: &str) -> String {
    let is_part = |character: &char| {
        !character.is_whitespace() && !character.is_control() && !is_unprintable(*character)
    };
    text.chars().filter(is_part).collect()
}

/// The longest part without characters that no encoding has: what stands behind the prefix of a protocol, or between quotes.
fn longest_part(text: &str) -> &str {
    let is_between = |character: char| {
        !character.is_ascii_alphanumeric() && !matches!(character, '+' | '/' | '-' | '_' | '=')
    };
    text.split(is_between).max_by_key(|part| part.len()).unwrap_or_default()
}

/// The bytes that a text may encode, the likeliest first: hardly a text in base64 has digits of hexadecimal alone, and more are in base64 than in
/// base58.
fn decodings(text: &str) -> impl Iterator<Item = (Form, Vec<u8>)> {
    let other = |bytes: Vec<u8>| (Form::Other, bytes);
    let all = [
        hexadecimal(text).map(|bytes| (Form::Hex, bytes)),
        base64(text),
        base58(text).map(other),
        multibase(text).map(other),
    ];
    all.into_iter().flatten()
}

/// Digits in pairs, which colons or hyphens may separate.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    parse_any_hex(&text.strip_prefix("0x").unwrap_or(text).replace([':', '-'], ""))
}

fn base64(text: &str) -> Option<(Form, Vec<u8>)> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const OF_FILES: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
    const OF_URLS: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
    let (form, bytes) = match (text.contains(['-', '_']), text.len().is_multiple_of(4)) {
        (false, true) => (Form::Standard, OF_FILES.decode(text)),
        (false, false) => (Form::Unpadded, OF_FILES.decode(text)),
        (true, true) => (Form::UrlSafe, OF_URLS.decode(text)),
        (true, false) => (Form::UrlSafeUnpadded, OF_URLS.decode(text)),
    };
    Some((form, bytes.ok()?))
}

/// The base58 of Bitcoin.
fn base58(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    /// Decoding takes the square of the length; 64 bytes are 88 digits.
    const MAX_LENGTH: usize = 100;
    let text = Some(text).filter(|text| text.len() <= MAX_LENGTH)?;
    // The last byte first.
    let mut bytes: Vec<u8> = Vec::new();
    for digit in text.chars() {
        let mut carry = DIGITS.find(digit)?;
        for byte in &mut bytes {
            carry += 58 * usize::from(*byte);
            *byte = u8::try_from(carry % 256).ok()?;
            carry /= 256;
        }
        if carry > 0 {
            bytes.push(u8::try_from(carry).ok()?);
        }
    }
    bytes.extend(text.chars().take_while(|digit| *digit == '1').map(|_| 0));
    bytes.reverse();
    Some(bytes)
}

/// Base58, base64 or hexadecimal behind its letter.
fn multibase(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix('z') {
        return base58(digits);
    }
    let digits = text.strip_prefix(['m', 'M', 'u', 'U', 'f', 'F'])?;
    hexadecimal(digits).or_else(|| base64(digits).map(|(_, bytes)| bytes))
}

/// A list of bytes as programs print it: signed ones too, and as an object that has the list or a member for each byte.
fn numbers(text: &str) -> Option<Vec<u8>> {
    let byte = |item: &str| {
        let signed = || item.parse::<i8>().ok().map(i8::cast_unsigned);
        item.parse::<u8>().ok().or_else(signed)
    };
    let list = text.rsplit(['[', '{', '(']).next()?;
    let members = list.split(|character: char| character == ',' || character.is_whitespace());
    let values = members.filter_map(|member| member.rsplit(':').next());
    let items = values.map(|value| value.trim_matches([']', '}', ')', '"', '\'']));
    items.filter(|item| !item.is_empty()).map(byte).collect()
}

/// The DER prefix of an Ed25519 public key (RFC 8410), before its 32 bytes.
const SPKI: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// What precedes the 32 bytes of a public key in a line of OpenSSH.
const OPENSSH: &[u8] = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20";

/// What precedes the 32 bytes of a public key and of a seed in a Multikey, as in `did:key`.
const MULTICODEC: &[u8] = b"\xed\x01";
const MULTICODEC_PRIVATE: &[u8] = b"\x80\x26";

/// What precedes the 32 bytes of `x` at the end of a `COSE_Key` (RFC 9053).
const COSE: &[u8] = b"\x21\x58\x20";

/// What precedes the seed in the DER of an Ed25519 private key of either version, behind its length and the version.
/// Attributes and the public key may follow the seed.
const PKCS8: &[u8] = b"\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// Whether these bytes precede a key or a signature in a file of minisign: its mark, and the number of the key.
fn is_of_minisign(ahead: &[u8]) -> bool {
    ahead.starts_with(b"Ed") && ahead.len() == 10
}

/// The bytes of the public key in these, which may be wrapped.
fn public_in(bytes: &[u8]) -> Option<&[u8; 32]> {
    let (ahead, key) = bytes.split_last_chunk()?;
    let is_key = [b"".as_slice(), SPKI, OPENSSH, MULTICODEC].contains(&ahead)
        || is_of_minisign(ahead)
        || ahead.ends_with(COSE);
    is_key.then_some(key)
}

/// The seed of the private key in these bytes.
fn seed_in(bytes: &[u8]) -> Option<[u8; 32]> {
    match bytes.len() {
        32 => bytes.try_into().ok(),
        // A seed, followed by its public key.
        64 => Some(SigningKey::from_keypair_bytes(bytes.try_into().ok()?).ok()?.to_bytes()),
        _ => {
            let mut parts = bytes.windows(PKCS8.len() + 32);
            let seed = bytes.strip_prefix(MULTICODEC_PRIVATE);
            let seed = seed.and_then(|seed| seed.try_into().ok());
            seed.or_else(|| parts.find_map(|part| part.strip_prefix(PKCS8)?.try_into().ok()))
        }
    }
}

/// The public keys that these bytes may be, or be the private key of.
fn keys_in(content: Decoded<Vec<u8>>) -> impl Iterator<Item = Decoded<PublicKey>> {
    let Decoded { codes, value: bytes } = content;
    let public = public_in(&bytes).and_then(PublicKey::from_bytes).map(|value| {
        let mut codes = codes.clone();
        // PEM is DER in any case.
        if bytes.len() > 32 && !codes.contains(&Code::KeyPem) {
            codes.push(Code::KeyDer);
        }
        Decoded { codes, value }
    });
    let private = seed_in(&bytes).map(|seed| {
        // Other programs keep private keys as lists and in base58, so that this is no mistake in writing them.
        let mut codes = codes;
        codes.retain(|code| *code != Code::KeyEncoding);
        codes.push(Code::KeyIsPrivate);
        Decoded { codes, value: PublicKey::of_pair(SigningKey::from_bytes(&seed).verifying_key()) }
    });
    public.into_iter().chain(private)
}

/// The bytes that a text of a key may encode, with what wraps the key in them, the likeliest first.
fn contents(text: &str) -> Vec<Decoded<Vec<u8>>> {
    let text = base64_of_ssh(text).unwrap_or(text);
    let outer = direct_readings(text);
    let texts = outer.iter().filter_map(|reading| std::str::from_utf8(&reading.bytes).ok());
    let file = texts.chain([text]).find_map(of_file);
    file.unwrap_or_else(|| with_inner(outer).into_iter().map(Reading::key).collect())
}

/// The base64 in a line of OpenSSH or a file of SSH (RFC 4716).
fn base64_of_ssh(text: &str) -> Option<&str> {
    /// The name of the algorithm, behind its length.
    const START: &str = "AAAAC3NzaC1lZDI1NTE5";
    text.split_whitespace().find(|word| word.starts_with(START))
}

/// The key in a PEM file or a JWK, if there is one; `None` for a text that is neither.
fn of_file(text: &str) -> Option<Vec<Decoded<Vec<u8>>>> {
    match armoured(text) {
        Some(inside) => Some(vec![of_pem(&inside)]),
        None => Some(of_jwk(jwk(text)?).into_iter().collect()),
    }
}

/// The base64 between the header and the footer of a PEM file.
fn armoured(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (_, rest) = rest.split_once("-----")?;
    let (inside, _) = rest.split_once("-----END ")?;
    // Line breaks may have been sent as a backslash and an `n`.
    Some(inside.replace("\\n", "").split_whitespace().collect())
}

fn of_pem(inside: &str) -> Decoded<Vec<u8>> {
    let bytes = STANDARD.decode(inside).unwrap_or_default();
    match bytes.strip_prefix(b"openssh-key-v1\0").and_then(seed_of_openssh) {
        Some(seed) => of_seed(seed),
        None => Decoded { codes: vec![Code::KeyPem], value: bytes },
    }
}

fn seed_of_openssh(content: &[u8]) -> Option<[u8; 32]> {
    let length = 64_u32.to_be_bytes();
    seed_in(content.windows(68).find_map(|part| part.strip_prefix(&length))?)
}

/// A private key that has no other form.
fn of_seed(seed: [u8; 32]) -> Decoded<Vec<u8>> {
    Decoded { codes: Vec::new(), value: [PKCS8, &seed].concat() }
}

/// A JWK, also as the only one of a set.
fn jwk(text: &str) -> Option<Object> {
    let mut object = Json::read(text.trim().as_bytes()).ok()?.into_object();
    if let Some(Json::List(keys)) = object.take("keys") {
        let [key] = <[Json; 1]>::try_from(keys).ok()?;
        object = key.into_object();
    }
    (object.has("x") || object.has("d")).then_some(object)
}

/// The seed in a JWK, else its public key; `None` for one of another curve.
fn of_jwk(mut jwk: Object) -> Option<Decoded<Vec<u8>>> {
    let mut bytes = |name: &'static str| -> Option<[u8; 32]> {
        let (_, bytes) = base64(&jwk.text(name).ok()?)?;
        bytes.try_into().ok()
    };
    if let Some(seed) = bytes("d") {
        return Some(of_seed(seed));
    }
    let public = bytes("x")?;
    let curve = jwk.text_if_any("crv").ok()?;
    let is_ours = curve.is_none_or(|curve| curve.eq_ignore_ascii_case("Ed25519"));
    is_ours.then(|| Decoded { codes: vec![Code::KeyBase64url], value: public.to_vec() })
}
