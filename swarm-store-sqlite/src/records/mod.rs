//! Records and their texts: JSON, by the one reader and the one writer of the core.

mod members;
mod outbox;
mod sessions;
mod takes;

use swarm_core::domain::SecretHash;
use swarm_core::json::{Json, Object};
use swarm_core::proof::hex;
use swarm_core::{Invalid, Timestamp};

use crate::failure::{Failure, Outcome};

pub(crate) use members::{member, member_text};
pub(crate) use outbox::{message, message_text, state_name};
pub(crate) use sessions::{session, session_text};
pub(crate) use takes::{TakeText, revision, take};

/// The fields of a record's text.
fn object(text: &str) -> Outcome<Object> {
    Ok(Json::read(text.as_bytes()).map_err(Failure::garbled)?.into_object())
}

/// A text or `null`.
fn text(text: Option<impl ToString>) -> Json {
    text.map_or(Json::Null, |text| Json::Text(text.to_string()))
}

/// A moment that may be absent.
fn timestamp_if_any(fields: &mut Object, field: &'static str) -> Outcome<Option<Timestamp>> {
    let moment = fields.text_if_any(field)?;
    Ok(moment.map(|text| Timestamp::parse(field, &text)).transpose()?)
}

/// A moment that must be there.
fn timestamp_in(fields: &mut Object, field: &'static str) -> Outcome<Timestamp> {
    timestamp_if_any(fields, field)?.ok_or_else(|| Invalid::missing(field).into())
}

/// A whole number that may be absent.
fn whole_if_any<T: TryFrom<u64>>(fields: &mut Object, field: &'static str) -> Outcome<Option<T>> {
    let whole = fields.whole_if_any(field)?.map(T::try_from).transpose();
    whole.map_err(|_| Failure::garbled(format!("{field} is too large")))
}

/// A whole number that must be there.
fn whole<T: TryFrom<u64>>(fields: &mut Object, field: &'static str) -> Outcome<T> {
    whole_if_any(fields, field)?.ok_or_else(|| Invalid::missing(field).into())
}

/// An object that may be absent.
fn object_if_any(fields: &mut Object, field: &str) -> Option<Object> {
    fields.take(field).map(Json::into_object)
}

/// A hash as configurations carry it.
fn hash_text(hash: &SecretHash) -> String {
    format!("sha256:{}", hex(hash.as_bytes()))
}

fn hash(text: &str) -> Outcome<SecretHash> {
    SecretHash::parse(text).ok_or_else(|| Failure::garbled("no hash"))
}
