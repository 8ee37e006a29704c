//! Marks of takes whose texts are withheld (API.md, 7.10).

use serde::{Deserialize, Serialize};

use super::form::{form, parsed, text_schema, value};
use super::{Digest, Invalid, Note, Timestamp};

/// The mark of a take whose write-up and memo address are withheld from the public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Withheld {
    /// When an operator withheld the texts, by the store's clock.
    pub at: Timestamp,
    /// Why.
    pub note: Note,
    /// The digests of the complete take, if this record does not have the texts: they were left out for a reader, or
    /// erased from the store.
    #[serde(skip)]
    pub removed: Option<TextDigests>,
}

form! {
    /// The request of an operator to withhold the texts of a take.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Withholding "Withholding" in "takes" {
        pub note: Note = "note" from Reason: "Why. It is public.",
    }
    example r#"{"note": "It names a client."}"#;
}

value!(
    /// A note that is not empty.
    Reason for Note,
    |fields, name| parsed(fields, name, |text| match text.is_empty() {
        true => Err(Invalid::new(name, "must have 1 to 500 characters")),
        false => Note::parse(text).map(Self),
    }),
    text_schema(1, Note::MAX)
);

/// What the log has of the texts of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDigests {
    /// The digest of the canonical bytes.
    pub digest: Digest,
    /// The seal, if the take has one.
    pub seal: Option<Digest>,
}
