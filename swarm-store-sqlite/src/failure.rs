//! Errors of the file, and their conversion to [`StoreError`].

use std::error::Error as _;
use std::sync::Arc;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_READONLY_CANTINIT, SQLITE_READONLY_DIRECTORY};
use swarm_core::store::StoreErrorKind;
use swarm_core::{Invalid, StoreError};

/// The result of a read or a change of the file.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why an operation failed. Cloned for each change of a batch.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    kind: StoreErrorKind,
    text: Arc<str>,
    /// Whether the disk is full.
    pub(crate) is_disk_full: bool,
    /// Whether SQLite cannot open the file, or a file beside it.
    pub(crate) is_not_opened: bool,
}

impl Failure {
    /// A stored record is not valid.
    pub(crate) fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::new(StoreErrorKind::Corrupt, format!("a stored record is garbled: {what}"))
    }

    /// The file was opened to be read only.
    pub(crate) fn read_only() -> Self {
        Self::new(StoreErrorKind::ReadOnly, "opened for reading alone")
    }

    /// This store must not write to the file.
    pub(crate) fn misconfigured(text: impl Into<Arc<str>>) -> Self {
        Self::new(StoreErrorKind::Misconfigured, text)
    }

    /// The thread for this work has ended.
    pub(crate) fn stopped() -> Self {
        Self::unavailable("the thread that works on the file has ended")
    }

    /// A thread cannot be started.
    pub(crate) fn thread(error: std::io::Error) -> Self {
        Self::unavailable(format!("cannot start a thread: {error}"))
    }

    /// The path is not valid.
    pub(crate) fn path(error: std::io::Error) -> Self {
        Self::misconfigured(format!("no path to a file: {error}"))
    }

    /// Whether the file, or a record in it, is corrupt.
    pub(crate) fn is_corrupt(&self) -> bool {
        self.kind == StoreErrorKind::Corrupt
    }

    /// This failure, of the operation named `op`.
    pub(crate) fn of(self, op: &'static str) -> StoreError {
        StoreError::new(self.kind, op, self)
    }

    fn unavailable(text: impl Into<Arc<str>>) -> Self {
        Self::new(StoreErrorKind::Unavailable, text)
    }

    fn new(kind: StoreErrorKind, text: impl Into<Arc<str>>) -> Self {
        Self { kind, text: text.into(), is_disk_full: false, is_not_opened: false }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        // The files beside it cannot be made, or not be written.
        let extended = error.sqlite_error().map(|error| error.extended_code);
        if matches!(extended, Some(SQLITE_READONLY_DIRECTORY | SQLITE_READONLY_CANTINIT)) {
            return Self { is_not_opened: true, ..Self::unavailable(error.to_string()) };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::misconfigured("the file is no database"),
            // Transactions check themselves that no two records have the same key.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation) => {
                Self::new(StoreErrorKind::Corrupt, error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::unavailable("another process did not let go of the file")
            }
            Some(ErrorCode::DiskFull) => {
                Self { is_disk_full: true, ..Self::unavailable(error.to_string()) }
            }
            Some(ErrorCode::CannotOpen) => {
                Self { is_not_opened: true, ..Self::unavailable(error.to_string()) }
            }
            _ => Self::unavailable(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let source = error.source();
        match source.and_then(<dyn std::error::Error>::downcast_ref::<Self>) {
            Some(failure) => failure.clone(),
            None => Self::new(
                error.kind(),
                source.map_or_else(|| error.to_string(), ToString::to_string),
            ),
        }
    }
}

/// For the traits of `swarm-core` that are carried out within an operation, which gives the error its name.
impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.of("sqlite")
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::corrupt(invalid)
    }
}
