//! The error of parsing JSON.

/// The bytes are not one JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid json body")]
pub struct NotJson;
