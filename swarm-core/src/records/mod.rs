//! The serialized form of records, which a store may keep.
//!
//! Each record has one text, written as JSON by the core. Parsing that text gives an equal record, but for two numbers that no public
//! text has, and that are 0 after reading: [`Session::version`], and [`Take::session_version`], which its [`TakeProof`] has. The text of a
//! public record is the text that the API shows.
//!
//! Records implement `Serialize` and `Deserialize` for JSON alone. Numbers keep the digits that they were written with, which
//! `serde_json` passes on: other text formats, such as YAML, show a wrapper of it in their place, and binary formats get the nearest
//! double. What is signed, hashed or to be verified later is kept as the text: `serde_json::Value` and the type `jsonb` of PostgreSQL
//! change the order of members and the digits of numbers.

/// Implements [`Record`] for types whose text is what `serde` writes.
macro_rules! derived {
    ($($record:ty),*) => {$(
        impl $crate::records::Record for $record {
            fn to_text(&self) -> String {
                $crate::domain::json::write(self)
            }
        }
    )*};
}

mod committee;
mod member;
mod secret_hash;
mod session;

use serde::de::DeserializeOwned;

use crate::domain::json::{Json, Mismatch, NotJson};
use crate::domain::{Invalid, Message, Salt, Session, Signature, Take, Webhook};

#[cfg(feature = "service")]
pub(crate) use session::SnapshotText;
pub use session::snapshot_text;

/// A type with a serialized form.
pub trait Record: DeserializeOwned {
    /// Serializes the complete record to a JSON object.
    fn to_text(&self) -> String;

    /// Parses what [`to_text`](Self::to_text) wrote. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`Unreadable`] when the text is not such a record.
    fn from_text(text: &str) -> Result<Self, Unreadable> {
        parse(text)
    }
}

/// Parses a text that `serde` wrote.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    read(Json::read(text.as_bytes())?)
}

/// Reads what `serde` wrote from a parsed value.
pub(crate) fn read<T: DeserializeOwned>(json: impl Into<Json>) -> Result<T, Unreadable> {
    Ok(T::deserialize(json.into())?)
}

/// A text is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no record: {0}")]
pub struct Unreadable(String);

impl Unreadable {
    #[cfg(feature = "service")]
    pub(crate) fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<Invalid> for Unreadable {
    fn from(invalid: Invalid) -> Self {
        Self(invalid.to_string())
    }
}

impl From<Mismatch> for Unreadable {
    fn from(mismatch: Mismatch) -> Self {
        Self(mismatch.to_string())
    }
}

impl From<NotJson> for Unreadable {
    fn from(not_json: NotJson) -> Self {
        Self(not_json.to_string())
    }
}

derived!(Message, Session, Webhook);

impl Record for Take {
    fn to_text(&self) -> String {
        self.kept_text()
    }
}

/// What the log has of a take besides its payload and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeProof {
    /// The signature.
    pub signature: Signature,
    /// The version of the session under which the take was judged.
    pub session_version: u64,
    /// The salt of the seal, if the take has one.
    pub salt: Option<Salt>,
}

/// Returns the proof of a take as one word: its signature, a dot and the version of its session, then, if it has
/// a seal, a dot and the salt of the seal. A verified signature is base64, so it contains no dot.
pub fn proof_text(take: &Take) -> String {
    let (signature, version) = (take.signed.signature.as_str(), take.session_version);
    match &take.salt {
        Some(salt) => format!("{signature}.{version}.{salt}"),
        None => format!("{signature}.{version}"),
    }
}

/// Reads what [`proof_text`] wrote.
///
/// # Errors
/// [`Invalid`] for any other text.
pub fn read_proof(text: &str) -> Result<TakeProof, Invalid> {
    let mut words = text.splitn(3, '.');
    let signature = Signature::parse(words.next().unwrap_or_default())?;
    let session_version = words.next().and_then(|version| version.parse().ok());
    let session_version = session_version.ok_or_else(|| Invalid::missing("sessionVersion"))?;
    let salt = words.next().map(Salt::parse).transpose()?;
    Ok(TakeProof { signature, session_version, salt })
}
