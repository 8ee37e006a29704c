//! Records as text, and back: what a store may keep, however else it indexes it.
//!
//! Each record has one text, JSON by the one writer of the core, and the one strict reader makes the
//! same record of it again. Where the record is public, its text is what everyone gets to see.

mod committee;
mod fields;
mod keys;
mod members;
mod outbox;
mod sessions;
mod takes;

pub use keys::public_key;
pub use sessions::{BEFORE_SNAPSHOT, without_snapshot};

use crate::domain::Invalid;
use crate::domain::json::{Json, NotJson, Object};

/// What has a text that it can be read back from.
pub trait Record: Sized {
    /// The whole record, a JSON object.
    fn to_text(&self) -> String;

    /// Takes the record out of the fields of its text. Unknown fields are left.
    ///
    /// # Errors
    /// [`Unreadable`], naming the first field that breaks its rule.
    fn read(fields: &mut Object) -> Result<Self, Unreadable>;

    /// Reads what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// [`Unreadable`] when it is no such record.
    fn from_text(text: &str) -> Result<Self, Unreadable> {
        Self::read(&mut Json::read(text.as_bytes())?.into_object())
    }
}

/// A text is no record.
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
