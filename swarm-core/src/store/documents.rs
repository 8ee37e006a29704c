//! Documents: records that are written once or replaced whole.

use async_trait::async_trait;

use super::Result;
use crate::domain::{Act, Invalid, MemberId, SessionId, Timestamp, Version};
use crate::rules::DocumentQuota;

/// The part of the port that keeps documents. Their content is opaque to a store.
#[async_trait]
pub trait Documents: Send + Sync {
    /// The document with this key.
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>>;

    /// The documents of a collection, or of one group in it, by id.
    async fn documents(&self, collection: Collection, group: Option<&str>)
    -> Result<Vec<Document>>;

    /// Writes a document, durably. A new one gets the collection's next id, from 1, and the store's
    /// time; one that replaces another keeps the id and the time of that. Returns what is now on
    /// file; or, with nothing written, [`Put::Stale`] when the record that `draft.guard` names has
    /// another version, [`Put::Exists`] when there is a document with this key and `draft.replace`
    /// is not set, [`Put::Full`] when a new one would be more than `draft.quota` allows. Times
    /// increase with ids, but where a clock was accepted that is behind the log. So for the quota it is
    /// enough to look at one document: the one that, counted back from the newest, would exceed it, if
    /// it [counts](DocumentQuota::counts); on the day of such a clock that may be too strict.
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

impl Collection {
    /// All collections.
    pub const ALL: [Self; 6] = [
        Self::Subjects,
        Self::SubjectSnapshots,
        Self::Memos,
        Self::Regimes,
        Self::Signals,
        Self::Briefs,
    ];

    /// Its name, of lower-case letters and hyphens. It never changes: stores keep it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Subjects => "subjects",
            Self::SubjectSnapshots => "subject-snapshots",
            Self::Memos => "memos",
            Self::Regimes => "regimes",
            Self::Signals => "signals",
            Self::Briefs => "briefs",
        }
    }
}

impl std::fmt::Display for Collection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Collection {
    type Err = Invalid;

    fn from_str(text: &str) -> std::result::Result<Self, Invalid> {
        let named = Self::ALL.into_iter().find(|collection| collection.as_str() == text);
        named.ok_or_else(|| Invalid::new("collection", "must be the name of a collection"))
    }
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
    /// The record that it was judged by.
    pub guard: Option<DocumentGuard>,
    /// How many new ones its group takes.
    pub quota: Option<DocumentQuota>,
    /// What it says in the log, where the public may see it.
    pub act: Option<Act>,
}

/// A record, at the version that was judged: a document with a guard is written only while the
/// record still has that version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentGuard {
    /// The member on whose behalf it is written.
    Member(MemberId, Version),
    /// The session that it is written for.
    Session(SessionId, Version),
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
    /// Its group has as many as it may; nothing was written.
    Full,
    /// The record that guards it has changed since it was judged; nothing was written: load and judge again.
    Stale,
}
