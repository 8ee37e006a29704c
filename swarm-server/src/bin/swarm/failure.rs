//! Errors that stop the program, and how they are reported.

/// An error that stops the program.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The error with its causes. The address of a store, which may contain a password, is never part of
/// it.
pub(crate) fn with_causes(what: &str, error: &dyn std::error::Error) -> String {
    format!("{what}: {}", swarm_core::service::with_causes(error))
}
