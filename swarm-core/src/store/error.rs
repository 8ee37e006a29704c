//! A store that could not answer.

/// The store could not be reached, or gave an answer that makes no sense. Opaque: callers learn
/// that it failed, logs learn why, from the source.
#[derive(Debug, thiserror::Error)]
#[error("store unavailable: {op}")]
pub struct StoreError {
    op: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl StoreError {
    /// The failure of the operation named `op`.
    pub fn new(
        op: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { op, source: source.into() }
    }
}
