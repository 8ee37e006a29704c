//! Classifies errors of Redis: which store error they are, and whether the connection is lost.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use swarm_core::StoreError;

/// The error that ends the operation named `op`.
pub(super) fn store_error(op: &'static str, error: RedisError) -> StoreError {
    // The error of a script contains a code that the script raised, or that of the command it
    // called.
    let said = error.to_string();
    match said.contains("CORRUPT ") || said.contains("WRONGTYPE") {
        true => StoreError::corrupt(op, error),
        false => StoreError::unavailable(op, error),
    }
}

/// Whether a connection cannot be used any more: it is closed, its server does not respond, or its
/// server has become a replica.
pub(super) fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error() || is_from_a_replica(error)
}

/// Whether a replica rejected the write, so that nothing was written.
pub(super) fn is_from_a_replica(error: &RedisError) -> bool {
    // The error of a script has this in its text.
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || error.to_string().contains("READONLY You can't write")
}

/// Whether the server answered, and refused the command.
pub(crate) fn is_refused(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_)) || error.code().is_some()
}
