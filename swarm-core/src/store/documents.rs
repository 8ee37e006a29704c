//! Documents: records that are written once or replaced as a whole.

use std::sync::Arc;

use super::Act;
use crate::domain::{Invalid, MemberId, Session, SessionId, Timestamp, Version};
use crate::rules::DocumentQuota;

/// A kind of document. Keys and ids are unique within each kind.
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
    /// Occasions for which a session was convened: see [`DocumentDraft::of_occasion`].
    Occasions,
    /// Decisions about memos that were held while their session was sealed, by id of the memo. Each is decided once:
    /// `true` by the commit that shows the memo and appends its entry, `false` if the memo was retracted before.
    /// Also, in groups by session, a note of each member with memos that were held until it was opened.
    HeldMemos,
    /// Tokens of time-stamping authorities, by the origin and the size of the checkpoint that they are of.
    Timestamps,
    /// Logs of the tenant that ended, by their origins, in groups by the origin of the log after them.
    EndedLogs,
}

impl Collection {
    /// All collections.
    pub const ALL: [Self; 10] = [
        Self::Subjects,
        Self::SubjectSnapshots,
        Self::Memos,
        Self::Regimes,
        Self::Signals,
        Self::Briefs,
        Self::Occasions,
        Self::HeldMemos,
        Self::Timestamps,
        Self::EndedLogs,
    ];

    /// Returns whether the size of its documents counts towards [`DocumentQuota::bytes`].
    pub fn has_limited_size(self) -> bool {
        matches!(self, Self::Subjects | Self::SubjectSnapshots | Self::Signals)
    }

    /// Its name, of lower-case letters and hyphens. It never changes, because stores keep it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Subjects => "subjects",
            Self::SubjectSnapshots => "subject-snapshots",
            Self::Memos => "memos",
            Self::Regimes => "regimes",
            Self::Signals => "signals",
            Self::Briefs => "briefs",
            Self::Occasions => "occasions",
            Self::HeldMemos => "held-memos",
            Self::Timestamps => "timestamps",
            Self::EndedLogs => "ended-logs",
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentDraft {
    /// Its key: any text of up to a few hundred characters, U+0000 included. `None`: its id in decimal
    /// digits. Without a key, a caller that repeats a write after an error may create two documents.
    pub key: Option<String>,
    /// Its group: any text. The group of a key never changes.
    pub group: String,
    /// Its text, kept byte for byte.
    pub json: String,
    /// The session until whose opening the text is held.
    pub held_until: Option<SessionId>,
    /// Whether the draft may replace an existing document.
    pub replace: bool,
    /// The record that must not have changed.
    pub guard: Option<DocumentGuard>,
    /// The quota of documents.
    pub quota: Option<DocumentQuota>,
    /// Its entry in the log, if the change is public.
    pub act: Option<Act>,
}

impl DocumentDraft {
    /// The document by which [`convene_once`](super::Records::convene_once) claims an occasion, in
    /// [`Collection::Occasions`]: its key is the occasion, its text the id of the session in decimal digits.
    pub fn of_occasion(occasion: &str, session: SessionId) -> Self {
        Self {
            key: Some(occasion.to_owned()),
            group: String::new(),
            json: session.to_string(),
            held_until: None,
            replace: false,
            guard: None,
            quota: None,
            act: None,
        }
    }
}

/// A record at the version that was judged. A document with a guard is written only while the
/// record still has that version.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentGuard {
    /// The member on whose behalf it is written.
    Member(MemberId, Version),
    /// The session that it is written for.
    Session(SessionId, Version),
    /// The session that it is written for, which the same commit replaces with this record. If the document replaces
    /// another, the session has no take, and the document gets the time of the commit.
    ReplacedSession(Arc<Session>, Version),
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The id.
    pub id: u64,
    /// The key.
    pub key: String,
    /// The text; empty while it is held.
    pub json: String,
    /// When its key was first written, by the store's clock; of a document that was replaced under
    /// [`DocumentGuard::ReplacedSession`], when it was written last.
    pub created_at: Timestamp,
    /// What is known of a text that was not read, because it is held.
    pub held: Option<Held>,
}

/// What a read says of a document whose text is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The session that was not opened when the document was read. It may have been withdrawn since.
    pub until: SessionId,
    /// The group of the document.
    pub group: String,
}

/// A page of a collection.
#[derive(Clone, Debug)]
pub struct DocumentQuery {
    /// Only documents with a higher key.
    pub after: Option<String>,
    /// The maximum number of documents; at least 1.
    pub limit: usize,
    /// The maximum size of their texts together, in bytes.
    pub bytes: usize,
    /// Whether to leave the texts out, which are then empty.
    pub without_texts: bool,
}

/// A page of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPage {
    /// The documents, by key.
    pub documents: Vec<Document>,
    /// Whether there are documents after these.
    pub more: bool,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Put {
    /// The document is new.
    Created(Document),
    /// The document replaced an existing one.
    Replaced(Document),
    /// A document with this key exists; nothing was written.
    Exists,
    /// The maximum number of documents is reached; nothing was written.
    Full,
    /// The maximum size of documents is reached; nothing was written.
    NoRoom,
    /// The guarding record has changed since it was judged; nothing was written: load and judge
    /// again.
    Stale,
}
