//! Errors that stop the program, and how they are reported.

/// What can stop the program.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What failed, with all that lies behind it. The address of a store, which may hold a password, is
/// repeated nowhere.
pub(crate) fn with_causes(what: &str, error: &dyn std::error::Error) -> String {
    format!("{what}: {}", swarm_core::service::with_causes(error))
}
