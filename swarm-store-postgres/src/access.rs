//! What a database is used for.

/// What a database is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    /// Reads alone, so that a server that takes no writes will do.
    ReadOnly,
}
