//! Parsing of the JSON of stored documents.

use crate::domain::Invalid;
use crate::domain::json::{Json, Object};
use crate::store::{Document, StoreError};

/// Parses a stored document.
pub(super) fn read<T>(
    document: &Document,
    from: impl FnOnce(&mut Object) -> Result<T, Invalid>,
) -> Result<T, StoreError> {
    let json = Json::read(document.json.as_bytes()).map_err(|error| unreadable(document, error))?;
    from(&mut json.into_object()).map_err(|error| unreadable(document, error))
}

/// The error for a stored document that the service cannot parse.
pub(super) fn unreadable(document: &Document, error: impl std::fmt::Display) -> StoreError {
    StoreError::corrupt("read document", format!("document {}: {error}", document.id))
}
