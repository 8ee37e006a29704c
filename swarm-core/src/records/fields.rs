//! Reading and writing of fields that several records have.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::domain::json::{Json, Object};
use crate::domain::{Contact, Digest, Invalid, PublicKey, Revision, SecretHash, Timestamp};
use crate::proof::hex;

/// A string, or `null`.
pub(super) fn text(text: Option<impl ToString>) -> Json {
    text.map_or(Json::Null, |text| Json::Text(text.to_string()))
}

/// A hash in the form used in configurations, or `null`.
pub(super) fn hash<S>(hash: Option<&SecretHash<S>>) -> Json {
    text(hash.map(|hash| format!("sha256:{}", hex(hash.as_bytes()))))
}

/// An optional hash.
pub(super) fn hash_if_any<S>(
    fields: &mut Object,
    field: &'static str,
) -> Result<Option<SecretHash<S>>, Invalid> {
    let parse = |text: String| {
        SecretHash::parse(&text).ok_or_else(|| Invalid::new(field, "must be a SHA-256 hash"))
    };
    fields.text_if_any(field)?.map(parse).transpose()
}

/// Takes an optional time.
pub(super) fn time_if_any(
    fields: &mut Object,
    field: &'static str,
) -> Result<Option<Timestamp>, Invalid> {
    fields.text_if_any(field)?.map(|text| Timestamp::parse(field, &text)).transpose()
}

/// Takes a required time.
pub(super) fn time(fields: &mut Object, field: &'static str) -> Result<Timestamp, Invalid> {
    present(field, time_if_any(fields, field)?)
}

/// An optional digest.
pub(super) fn digest_if_any(
    fields: &mut Object,
    field: &'static str,
) -> Result<Option<Digest>, Invalid> {
    fields.text_if_any(field)?.map(Digest::parse).transpose()
}

/// An optional integer.
pub(super) fn whole_if_any<T: TryFrom<u64>>(
    fields: &mut Object,
    field: &'static str,
) -> Result<Option<T>, Invalid> {
    let number = fields.whole_if_any(field)?.map(T::try_from).transpose();
    number.map_err(|_| Invalid::new(field, "is too large"))
}

/// Takes a required integer, which is not negative.
pub(super) fn whole<T: TryFrom<u64>>(
    fields: &mut Object,
    field: &'static str,
) -> Result<T, Invalid> {
    present(field, whole_if_any(fields, field)?)
}

/// A required revision.
pub(super) fn revision(fields: &mut Object) -> Result<Revision, Invalid> {
    let number = whole(fields, "revision")?;
    Revision::new(number).ok_or_else(|| Invalid::new("revision", "is too large"))
}

/// A contact, or `null` if it was erased.
pub(super) fn contact(contact: &Contact) -> Json {
    text((!contact.is_erased()).then_some(contact))
}

/// A contact; erased if it is `null`.
pub(super) fn contact_if_any(fields: &mut Object, field: &'static str) -> Result<Contact, Invalid> {
    fields.text_if_any(field)?.map_or_else(|| Ok(Contact::erased()), Contact::parse)
}

/// Takes the optional field `publicKey`.
pub(super) fn key_if_any(fields: &mut Object) -> Result<Option<PublicKey>, Invalid> {
    fields.text_if_any("publicKey")?.map(|key| public_key(&key)).transpose()
}

/// An optional object.
pub(super) fn object_if_any(fields: &mut Object, field: &str) -> Option<Object> {
    fields.take(field).map(Json::into_object)
}

/// A required object.
pub(super) fn object(fields: &mut Object, field: &'static str) -> Result<Object, Invalid> {
    present(field, object_if_any(fields, field))
}

/// Turns an absent required field into an error.
pub(super) fn present<T>(field: &'static str, value: Option<T>) -> Result<T, Invalid> {
    value.ok_or_else(|| Invalid::missing(field))
}

/// The maximum number of cached keys.
const MAX_CACHED: usize = 10_000;

/// Decodes a stored public key. Decoding costs a square root in the field, and the same keys are
/// read again and again, so decoded keys are cached.
///
/// # Errors
/// The error of [`PublicKey::parse`].
pub fn public_key(text: &str) -> Result<PublicKey, Invalid> {
    static CACHE: LazyLock<Mutex<HashMap<String, PublicKey>>> = LazyLock::new(Mutex::default);
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = cache().get(text) {
        return Ok(key.clone());
    }
    let key = PublicKey::parse(text)?;
    let mut cache = cache();
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert(text.to_owned(), key.clone());
    Ok(key)
}
