//! The codes and messages of signing mistakes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! codes {
    ($($name:ident = $code:literal, $message:literal;)*) => {
        /// A signing mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $message] $name,)*
        }

        impl Code {
            /// All codes, in the order of API.md, 9.4.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the code on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What went wrong, and how to correct it.
            pub fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

codes! {
    KeyOrder = "key-order", "the keys were signed in another order: sign them in the order of canonical";
    Whitespace = "whitespace", "the text was signed with spaces after commas or colons: sign it without white space";
    Pretty = "pretty", "the text was signed on several lines: sign it on one, without white space";
    Escapes = "escapes", "characters were not escaped as JSON.stringify does: escape only quotes, backslashes and U+0000 to U+001F, with lower-case digits";
    NumberText = "number-text", "a number has another form: write it as JSON.stringify does, 0.7 for 0.70, 1 for 1.0";
    TimeText = "time-text", "expiresAt has another form in the signed text, as if it was parsed and written again: sign it as it was given";
    MissingBody = "missing-body", "body is missing or null in the signed text: sign it as an empty string when it is absent";
    MissingMemoUrl = "missing-memo-url", "memoUrl is missing or null in the signed text: sign it as an empty string when it is absent";
    MissingLens = "missing-lens", "lens is missing or null in the signed text: sign it as an empty string when it is absent";
    WeightsNull = "weights-null", "weights was signed as null or as an empty list: without weights the text has no such key";
    WeightsOrder = "weights-order", "the weights were signed in another order than sent: send and sign them in the same order";
    SignatureIncluded = "signature-included", "the signed text contains a signature: sign it without that key";
    ExtraFields = "extra-fields", "the signed text contains fields that are not part of the payload: omit them";
    FieldNames = "field-names", "the fields have other names in the signed text, as MemberId or member_id: sign them under those of canonical, as memberId";
    TrailingNewline = "trailing-newline", "a line break or a space after the text was signed: sign only the text (printf, not echo)";
    UnicodeNormalization = "unicode-normalization", "the text was normalized before it was signed: sign exactly the code points that are sent";
    SignedDigest = "signed-digest", "a digest of the text was signed: sign the text itself, because Ed25519 hashes it";
    TextEncoding = "text-encoding", "the text was encoded before it was signed (as UTF-16, Latin-1 or ASCII, with a byte order mark, as a JSON string, in base64 or hexadecimal, or twice): sign its UTF-8 bytes";
    NotJson = "not-json", "the text was signed as a language prints an object, as str() of Python does, and not as JSON: sign canonical";
    SignatureHex = "signature-hex", "the signature is hexadecimal: send standard base64 of its 64 bytes";
    SignatureBase64url = "signature-base64url", "the signature is in URL-safe base64: send standard base64, with + and /";
    SignatureUnpadded = "signature-unpadded", "the signature lacks its padding: send standard base64, with = at the end";
    SignatureAttached = "signature-attached", "the signature is longer than 64 bytes, as where a library puts the message behind it (sign of PyNaCl, crypto_sign of libsodium) or a prefix before it (Tink, minisign): send base64 of only the 64 bytes of the signature";
    SignatureWhitespace = "signature-whitespace", "the signature contains white space, perhaps in place of +, a prefix, quotes or other marks, escapes of a URL or of HTML, a byte order mark or other characters that are not shown: send only its 88 characters";
    SignatureEncoding = "signature-encoding", "the signature is in base64 twice, in base58, in multibase or a list of numbers: send standard base64 of its 64 bytes, once";
    KeyHex = "key-hex", "the public key is hexadecimal: send standard base64 of its 32 bytes";
    KeyBase64url = "key-base64url", "the public key is in another form of base64, as x of a JWK is: send the standard one, with + and / and padding, without a prefix, white space, quotes or characters that are not shown";
    KeyDer = "key-der", "the public key is wrapped, in DER, as SSH, minisign and COSE do or behind its multicodec: send base64 of only its last 32 bytes";
    KeyPem = "key-pem", "the public key is PEM: decode it, and send base64 of the last 32 bytes";
    KeyEncoding = "key-encoding", "the public key is in base64 twice, in base58, in multibase (did:key) or a list of numbers: send standard base64 of its 32 bytes, once";
    KeyIsPrivate = "key-is-private", "what was sent as the public key or the signature is a private key, which is now compromised: generate a new pair and send its public key";
    OtherPayload = "other-payload", "another text was signed, not this kind of payload: sign canonical";
    OtherKey = "other-key", "the signature belongs to the public key that was sent, not to the registered key of the member";
    InvalidField = "invalid-field", "a field is missing or invalid: correct it, then sign";
    Unknown = "unknown", "no known mistake explains the signature: sign the UTF-8 bytes of canonical with the private key of the registered public key, and send base64 of the 64 bytes";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A code that a later version of the service has is [`Code::Unknown`].
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|code| code.as_str() == text);
        Ok(known.copied().unwrap_or(Self::Unknown))
    }
}
