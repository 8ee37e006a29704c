//! Marks of takes whose texts are withheld (API.md, 7.10).

use serde::Serialize;

use super::{Digest, Note, Timestamp};

/// The mark of a take whose write-up and memo address are withheld from the public.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// What the log has of the texts of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDigests {
    /// The digest of the canonical bytes.
    pub digest: Digest,
    /// The seal, if the take has one.
    pub seal: Option<Digest>,
}
