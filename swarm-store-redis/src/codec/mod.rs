//! Records as they are stored. A row is a few words that scripts look at, and a text that they do
//! not: JSON, by the one reader and the one writer of the core.

mod committee;
mod documents;
mod members;
mod outbox;
mod sessions;
mod takes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex, PoisonError};

use swarm_core::domain::{PublicKey, SecretHash, Version};
use swarm_core::json::{Json, NotJson, Object};
use swarm_core::proof::hex;
use swarm_core::store::Result;
use swarm_core::{Invalid, StoreError, Timestamp};

pub(crate) use committee::{
    committee_brief, committee_brief_row, committee_day, committee_day_row, committee_filed,
    committee_member, committee_member_row, committee_take, committee_take_text,
};
pub(crate) use documents::{document, put};
pub(crate) use members::{challenge, challenge_text, member, member_row, token};
pub(crate) use outbox::{mail_text, message, message_row};
pub(crate) use sessions::{convened, session, session_row, session_text};
pub(crate) use takes::{filed, revision, take, take_id, take_text};

/// What is stored is no record.
#[derive(Debug)]
pub(crate) struct Garbled(String);

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stored record is garbled: {}", self.0)
    }
}

impl std::error::Error for Garbled {}

impl Garbled {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl From<Invalid> for Garbled {
    fn from(invalid: Invalid) -> Self {
        Self(invalid.to_string())
    }
}

impl From<NotJson> for Garbled {
    fn from(not_json: NotJson) -> Self {
        Self(not_json.to_string())
    }
}

/// What was read, for an operation to answer.
pub(crate) trait Decoded<T> {
    /// A record that is garbled fails the operation named `op`.
    fn of(self, op: &'static str) -> Result<T>;
}

impl<T> Decoded<T> for std::result::Result<T, Garbled> {
    fn of(self, op: &'static str) -> Result<T> {
        self.map_err(|garbled| StoreError::corrupt(op, garbled))
    }
}

type Read<T> = std::result::Result<T, Garbled>;

/// Decodes each of `rows`.
pub(crate) fn each<T>(rows: &[String], decode: impl Fn(&str) -> Read<T>) -> Read<Vec<T>> {
    rows.iter().map(|row| decode(row)).collect()
}

/// Decodes the row, where there is one.
pub(crate) fn any<T>(row: Option<&String>, decode: impl Fn(&str) -> Read<T>) -> Read<Option<T>> {
    row.map(|row| decode(row)).transpose()
}

/// A moment, in milliseconds since 1970.
pub(crate) fn timestamp(millis: &str) -> Read<Timestamp> {
    Timestamp::from_millis(number(millis)?).ok_or_else(|| Garbled::new("no moment"))
}

/// The words that a row begins with.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Read<&'a str> {
        let (word, rest) = self.0.split_once(' ').ok_or_else(|| Garbled::new("too few words"))?;
        self.0 = rest;
        Ok(word)
    }

    fn number<T: FromStr>(&mut self) -> Read<T> {
        number(self.next()?)
    }

    fn timestamp(&mut self) -> Read<Timestamp> {
        timestamp(self.next()?)
    }

    fn version(&mut self) -> Read<Version> {
        self.number().map(Version)
    }

    /// A text behind its length in bytes and a space.
    fn text(&mut self) -> Read<&'a str> {
        let length = self.number()?;
        let parts = self.0.split_at_checked(length);
        let (text, rest) = parts.ok_or_else(|| Garbled::new("no text of that length"))?;
        self.0 = rest;
        Ok(text)
    }

    /// What comes after the words.
    fn rest(self) -> &'a str {
        self.0
    }

    /// What comes after the words, as an object.
    fn object(self) -> Read<Object> {
        Ok(Json::read(self.0.as_bytes())?.into_object())
    }
}

fn number<T: FromStr>(text: &str) -> Read<T> {
    text.parse().map_err(|_| Garbled::new("no number"))
}

/// A text or `null`.
fn text(text: Option<impl ToString>) -> Json {
    text.map_or(Json::Null, |text| Json::Text(text.to_string()))
}

/// A moment that may be absent.
fn timestamp_if_any(fields: &mut Object, field: &'static str) -> Read<Option<Timestamp>> {
    let moment = fields.text_if_any(field)?;
    Ok(moment.map(|text| Timestamp::parse(field, &text)).transpose()?)
}

/// A moment that must be there.
fn timestamp_in(fields: &mut Object, field: &'static str) -> Read<Timestamp> {
    timestamp_if_any(fields, field)?.ok_or_else(|| Invalid::missing(field).into())
}

/// A whole number that may be absent.
fn whole_if_any<T: TryFrom<u64>>(fields: &mut Object, field: &'static str) -> Read<Option<T>> {
    let whole = fields.whole_if_any(field)?.map(T::try_from).transpose();
    whole.map_err(|_| Garbled::new(format!("{field} is too large")))
}

/// A whole number that must be there.
fn whole<T: TryFrom<u64>>(fields: &mut Object, field: &'static str) -> Read<T> {
    whole_if_any(fields, field)?.ok_or_else(|| Invalid::missing(field).into())
}

/// An object that may be absent.
fn object_if_any(fields: &mut Object, field: &str) -> Option<Object> {
    fields.take(field).map(Json::into_object)
}

/// The 64 digits of a hash.
pub(crate) fn hash_text(hash: &SecretHash) -> String {
    hex(hash.as_bytes())
}

fn hash(digits: &str) -> Read<SecretHash> {
    SecretHash::parse(&format!("sha256:{digits}")).ok_or_else(|| Garbled::new("no hash"))
}

/// How many keys are kept decoded.
const KEYS_KEPT: usize = 10_000;

/// A public key. To decode one costs a square root in the field, and the same members' keys come
/// again and again, so that they are kept.
fn public_key(text: &str) -> Read<PublicKey> {
    static KEPT: LazyLock<Mutex<HashMap<String, PublicKey>>> = LazyLock::new(Mutex::default);
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = kept().get(text) {
        return Ok(key.clone());
    }
    let key = PublicKey::parse(text)?;
    let mut kept = kept();
    if kept.len() >= KEYS_KEPT {
        kept.clear();
    }
    kept.insert(text.to_owned(), key.clone());
    Ok(key)
}
