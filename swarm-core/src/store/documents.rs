//! Documents: records that are written once or replaced whole.

use async_trait::async_trait;

use super::Result;
use crate::domain::{MemberId, Timestamp, Version};

/// The part of the port that keeps documents. A store does not look into them.
#[async_trait]
pub trait Documents: Send + Sync {
    /// The document with this key.
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>>;

    /// The documents of a collection, or of one group in it, by id.
    async fn documents(&self, collection: Collection, group: Option<&str>)
    -> Result<Vec<Document>>;

    /// Writes a document, durably. A new one gets the collection's next id, from 1, and the
    /// store's time; one that takes the place of another keeps both. Answers what is now on file;
    /// or, with nothing written, [`Put::Stale`] when the version of the member that `draft.guard`
    /// names is another, [`Put::Exists`] when there is one and `draft.replace` is not set.
    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put>;
}

/// A kind of document. Keys and ids are unique in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Collection {
    /// [`Subject`](crate::domain::Subject)s, by id.
    Subjects,
    /// [`SubjectSnapshot`](crate::domain::SubjectSnapshot)s, in groups by subject.
    SubjectSnapshots,
    /// [`Memo`](crate::domain::Memo)s.
    Memos,
    /// [`Regime`](crate::domain::Regime)s, by day.
    Regimes,
    /// [`Signal`](crate::domain::Signal)s, in groups by day.
    Signals,
    /// [`Brief`](crate::domain::Brief)s, by session, in groups by day and subject.
    Briefs,
}

/// A document to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentDraft {
    /// Its key: any text. `None`: the id that it gets, in decimal digits.
    pub key: Option<String>,
    /// Its group: any text. It never changes for a key.
    pub group: String,
    /// Its text, kept byte for byte.
    pub json: String,
    /// Whether it may take the place of another.
    pub replace: bool,
    /// The member, at the version that was judged, on whose behalf it is written.
    pub guard: Option<(MemberId, Version)>,
}

/// A document on file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: u64,
    /// Its key.
    pub key: String,
    /// Its text.
    pub json: String,
    /// When its key was first written, by the store's clock.
    pub created_at: Timestamp,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Put {
    /// There was none; this is it.
    Created(Document),
    /// This took the place of another.
    Replaced(Document),
    /// There is one already; nothing was written.
    Exists,
    /// The member has changed since it was judged; nothing was written: load and judge again.
    Stale,
}
