//! Documents: records that are read and replaced whole, and guarded by nothing.

use async_trait::async_trait;

use super::Result;

/// The part of the port that keeps documents. A store does not look into them.
#[async_trait]
pub trait Documents: Send + Sync {
    /// The document with this key.
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>>;

    /// All documents of a collection, by key in the order of its bytes.
    async fn documents(&self, collection: Collection) -> Result<Vec<Document>>;

    /// Writes a document, durably, over the one with the same key.
    async fn put_document(&self, collection: Collection, document: &Document) -> Result<Put>;
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Collection {
    /// [`Subject`](crate::domain::Subject)s by id.
    Subjects,
}

/// A document: any key, and JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The key, unique in the collection.
    pub key: String,
    /// The text, kept byte for byte.
    pub json: String,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Put {
    /// There was none.
    Created,
    /// It took the place of another.
    Replaced,
}
