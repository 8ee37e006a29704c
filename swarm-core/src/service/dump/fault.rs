//! Why a dump is refused.

/// The first fault of a dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Fault {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
}

/// What is wrong, without the line.
pub(super) type Checked<T> = Result<T, String>;

/// Fails with this text unless the condition holds.
pub(super) fn check(holds: bool, what: impl FnOnce() -> String) -> Checked<()> {
    if holds { Ok(()) } else { Err(what()) }
}
