//! The serialized form of records, which a store may keep.
//!
//! Each record has one text, written as JSON by the core. Parsing that text gives an equal record.
//! The text of a public record is the text that the API shows.

mod committee;
mod fields;
mod keys;
mod members;
mod outbox;
mod sessions;
mod takes;

pub use keys::public_key;
pub use sessions::{
    BEFORE_BUCKETS, BEFORE_PUBLICATION, BEFORE_ROSTER, BEFORE_SNAPSHOT, BEFORE_WEIGHTS,
    MAX_SUMMARY_PART, expecting, without_snapshot,
};
pub use takes::{proof_text, read_proof};

use crate::domain::Invalid;
use crate::domain::json::{Json, NotJson, Object};

/// A type with a serialized form.
pub trait Record: Sized {
    /// Serializes the complete record to a JSON object.
    fn to_text(&self) -> String;

    /// Reads the record from the fields of its text. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`Unreadable`], naming the first field that breaks its rule.
    fn read(fields: &mut Object) -> Result<Self, Unreadable>;

    /// Parses what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// [`Unreadable`] when the text is not such a record.
    fn from_text(text: &str) -> Result<Self, Unreadable> {
        Self::read(&mut Json::read(text.as_bytes())?.into_object())
    }
}

/// A text is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no record: {0}")]
pub struct Unreadable(String);

impl From<Invalid> for Unreadable {
    fn from(invalid: Invalid) -> Self {
        Self(invalid.to_string())
    }
}

impl From<NotJson> for Unreadable {
    fn from(not_json: NotJson) -> Self {
        Self(not_json.to_string())
    }
}
