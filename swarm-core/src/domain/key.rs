//! Public keys, signatures, and signed payloads.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;

use super::Invalid;
use super::form::{Described, Field, Form, FormSchema, NamedSchema, parsed, text_schema, value};
use super::json::{self, Json, Object};

/// The maximum number of cached keys.
const MAX_CACHED: usize = 10_000;

/// An Ed25519 public key that may be registered, kept in decoded form. Clones share one allocation,
/// because each take carries the key that verified it.
///
/// Points of small order and non-canonical encodings are refused (API.md, 3.2).
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(Arc<VerifyingKey>);

impl PublicKey {
    /// Parses the padded standard base64 of the 32 raw bytes.
    ///
    /// # Errors
    /// [`Invalid`] for any other text, and for a key that may not be registered.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut bytes = [0; 32];
        // The decoder also accepts shorter input, so check the length: 32 bytes are 44 characters.
        let exact = text.len() == 44 && STANDARD.decode_slice(text, &mut bytes) == Ok(32);
        exact.then_some(bytes).as_ref().and_then(Self::from_bytes).ok_or_else(|| {
            Invalid::new("publicKey", "must be base64 of the 32 raw bytes of a strong Ed25519 key")
        })
    }

    /// Returns the key with these bytes; `None` unless they are the canonical encoding of a point
    /// that is not of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(bytes).ok()?;
        let canonical = key.to_edwards().compress().as_bytes() == bytes;
        (canonical && !key.is_weak()).then(|| Self(Arc::new(key)))
    }

    /// As [`parse`](Self::parse), for the text of a record. Decoding costs a square root in the field, and the same keys are
    /// read again and again, so decoded keys are cached.
    ///
    /// # Errors
    /// The error of [`parse`](Self::parse).
    pub(crate) fn of_record(text: &str) -> Result<Self, Invalid> {
        static CACHE: LazyLock<Mutex<HashMap<String, PublicKey>>> = LazyLock::new(Mutex::default);
        let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = cache().get(text) {
            return Ok(key.clone());
        }
        let key = Self::parse(text)?;
        let mut cache = cache();
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(text.to_owned(), key.clone());
        Ok(key)
    }

    /// The public key of a key pair. It is strong, because it is a multiple of the base point.
    pub(crate) fn of_pair(key: VerifyingKey) -> Self {
        Self(Arc::new(key))
    }

    /// Returns the raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    pub(crate) fn verifying_key(&self) -> &VerifyingKey {
        &self.0
    }
}

value!(
    PublicKey,
    |fields, name| parsed(fields, name, |text| Self::parse(&text)),
    FormSchema::reference("PublicKey")
);

impl std::hash::Hash for PublicKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&STANDARD.encode(self.as_bytes()))
    }
}

impl serde::Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        Self::of_record(&text).map_err(serde::de::Error::custom)
    }
}

/// The text of a signature as received: at most 2,000 characters (API.md, 5.1). It may be anything;
/// only verification decodes it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The maximum length in characters (API.md, 5.1).
    pub const MAX: u32 = 2_000;

    /// The schema of the signature of a take that is sent.
    pub(crate) const OF_SUBMISSION: NamedSchema =
        NamedSchema::new("takes", "SentSignature", || {
            let mut schema = text_schema(0, Self::MAX).into_object();
            let description = "A Signature. Any other encoding is refused as a wrong one.";
            schema.set("description", description.into());
            Json::Object(schema)
        });

    /// Checks the length of `text` and keeps it unchanged.
    ///
    /// # Errors
    /// [`Invalid`] when it is too long.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        super::text::bounded("signature", text.into(), 0, Self::MAX as usize).map(Self)
    }

    /// Returns the text, exactly as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn encode(signature: &ed25519_dalek::Signature) -> Self {
        Self(STANDARD.encode(signature.to_bytes()))
    }

    pub(crate) fn decoded(&self) -> Option<ed25519_dalek::Signature> {
        let mut bytes = [0; 64];
        let exact = self.0.len() == 88 && STANDARD.decode_slice(&self.0, &mut bytes) == Ok(64);
        exact.then(|| ed25519_dalek::Signature::from_bytes(&bytes))
    }
}

value!(
    Signature,
    |fields, name| fields.text_if_any(name)?.map(Self::parse).transpose(),
    text_schema(0, Self::MAX)
);

/// A payload together with an unverified signature.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Signed<T> {
    /// The payload that the signature is claimed to cover.
    #[serde(flatten)]
    pub payload: T,
    /// The signature, as received.
    pub signature: Signature,
}

impl<T: serde::Serialize> Signed<T> {
    /// Returns the JSON that a member sends: the fields of the payload, then `signature`. The same payload always gives the same
    /// text.
    pub fn to_json(&self) -> String {
        json::write(self)
    }
}

/// The fields of the payload, and the signature beside them.
impl<T: Form> Form for Signed<T> {
    fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self { payload: T::read(fields)?, signature: Field::of(fields, "signature")? })
    }
}

impl<T: Described> Described for Signed<T> {
    const NAME: &'static str = T::NAME;
    const TOPIC: &'static str = T::TOPIC;

    fn describe(schema: &mut FormSchema) {
        T::describe(schema);
        schema.add::<Signature>("signature", "");
    }
}
