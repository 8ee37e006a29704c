//! Encodes records as they are stored, and decodes them. A row is a few words that scripts read and
//! write, then text that is opaque to them: the record, as the core encodes it
//! ([`records`](swarm_core::store::records)).

mod committee;
mod documents;
mod log;
mod members;
mod outbox;
mod sessions;
mod takes;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::str::FromStr;

use swarm_core::domain::{SecretHash, Version};
use swarm_core::json::{Json, NotJson, Object};
use swarm_core::proof::hex;
use swarm_core::store::Result;
use swarm_core::store::records::Unreadable;
use swarm_core::{Invalid, StoreError, Timestamp};

pub(crate) use committee::{
    decode_committee_brief, decode_committee_day, decode_committee_filed, decode_committee_member,
    decode_committee_take, encode_committee_brief, encode_committee_day, encode_committee_member,
    encode_committee_take,
};
pub(crate) use documents::{decode_document, decode_page, decode_put, encode_document};
pub(crate) use log::{decode_act, decode_committed, decode_log_row, decode_wanted};
pub(crate) use members::{
    decode_challenge, decode_member, encode_challenge, encode_member, encode_token,
};
pub(crate) use outbox::{decode_message, encode_mail, encode_message};
pub(crate) use sessions::{
    decode_convened, decode_session, decode_session_id, decode_summary, decode_terms,
    encode_session, encode_session_draft,
};
pub(crate) use takes::{
    TakeRow, decode_filed, decode_member_take, decode_revision, decode_take, decode_take_id,
    encode_take,
};
pub(crate) use tree::{decode_tree, encode_tree};

/// A stored value that cannot be decoded.
#[derive(Debug)]
pub(crate) struct Corrupt(String);

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stored record is corrupt: {}", self.0)
    }
}

impl std::error::Error for Corrupt {}

impl Corrupt {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl From<Invalid> for Corrupt {
    fn from(invalid: Invalid) -> Self {
        Self(invalid.to_string())
    }
}

impl From<Unreadable> for Corrupt {
    fn from(unreadable: Unreadable) -> Self {
        Self(unreadable.to_string())
    }
}

impl From<NotJson> for Corrupt {
    fn from(not_json: NotJson) -> Self {
        Self(not_json.to_string())
    }
}

/// Turns decoding errors into store errors.
pub(crate) trait Context<T> {
    /// Adds the name of the failed operation.
    fn context(self, op: &'static str) -> Result<T>;
}

impl<T> Context<T> for std::result::Result<T, Corrupt> {
    fn context(self, op: &'static str) -> Result<T> {
        self.map_err(|corrupt| StoreError::corrupt(op, corrupt))
    }
}

type Decoded<T> = std::result::Result<T, Corrupt>;

/// Decodes each of `rows`.
pub(crate) fn decode_each<T>(
    rows: &[String],
    decode: impl Fn(&str) -> Decoded<T>,
) -> Decoded<Vec<T>> {
    rows.iter().map(|row| decode(row)).collect()
}

/// Decodes the row, if there is one.
pub(crate) fn decode_optional<T>(
    row: Option<&String>,
    decode: impl Fn(&str) -> Decoded<T>,
) -> Decoded<Option<T>> {
    row.map(|row| decode(row)).transpose()
}

/// A moment, in milliseconds since 1970.
pub(crate) fn decode_timestamp(millis: &str) -> Decoded<Timestamp> {
    Timestamp::from_millis(number(millis)?).ok_or_else(|| Corrupt::new("no moment"))
}

/// The words that a row begins with.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Decoded<&'a str> {
        let (word, rest) = self.0.split_once(' ').ok_or_else(|| Corrupt::new("too few words"))?;
        self.0 = rest;
        Ok(word)
    }

    fn number<T: FromStr>(&mut self) -> Decoded<T> {
        number(self.next()?)
    }

    fn timestamp(&mut self) -> Decoded<Timestamp> {
        decode_timestamp(self.next()?)
    }

    fn version(&mut self) -> Decoded<Version> {
        self.number().map(Version)
    }

    /// A text that is preceded by its length in bytes and a space.
    fn text(&mut self) -> Decoded<&'a str> {
        let length = self.number()?;
        let parts = self.0.split_at_checked(length);
        let (text, rest) = parts.ok_or_else(|| Corrupt::new("no text of that length"))?;
        self.0 = rest;
        Ok(text)
    }

    /// What comes after the words.
    fn rest(self) -> &'a str {
        self.0
    }

    /// What comes after the words, as an object.
    fn object(self) -> Decoded<Object> {
        Ok(Json::read(self.0.as_bytes())?.into_object())
    }
}

fn number<T: FromStr>(text: &str) -> Decoded<T> {
    text.parse().map_err(|_| Corrupt::new("no number"))
}

/// A JSON text, or `null`.
fn text_or_null(text: Option<impl ToString>) -> Json {
    text.map_or(Json::Null, |text| Json::Text(text.to_string()))
}

/// Encodes a hash as its 64 digits.
pub(crate) fn encode_hash<S>(hash: &SecretHash<S>) -> String {
    hex(hash.as_bytes())
}
