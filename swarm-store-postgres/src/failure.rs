//! Errors of the database, and their conversion to [`StoreError`].

use std::error::Error;
use std::fmt;

use swarm_core::records::Unreadable;
use swarm_core::store::{StoreErrorKind, other_layout};
use swarm_core::{Invalid, StoreError};
use tokio_postgres::error::SqlState;

/// The number of the layout that this program reads and writes.
pub(crate) const LAYOUT: i32 = 5;

/// The result of a read or a change of the database.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// The code of the error that the functions of the store raise under another isolation level.
const WRONG_ISOLATION: &str = "SW001";

/// The code of the error that they raise if the layout has another number, which is the message.
const OTHER_LAYOUT: &str = "SW002";

/// Said of a server that takes no writes.
pub(crate) const NO_WRITES: &str =
    "the database takes no writes: it is a standby, or default_transaction_read_only is on";

/// Why an operation failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: StoreErrorKind,
    text: String,
    code: Option<SqlState>,
    /// Whether the connection must not be used again.
    pub(crate) breaks_connection: bool,
    /// Whether nothing was committed, and the call may be repeated.
    pub(crate) may_repeat: bool,
    /// Whether no server answered.
    is_outage: bool,
    /// The error of the program that the text is of.
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref()?.source()
    }
}

impl Failure {
    /// A stored record is not valid.
    pub(crate) fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::new(StoreErrorKind::Corrupt, format!("a stored record is garbled: {what}"))
    }

    /// This store must not use the database.
    pub(crate) fn misconfigured(text: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Misconfigured, text)
    }

    /// A setting of the address that breaks this rule.
    pub(crate) fn invalid(name: &str, rule: &str) -> Self {
        Self::misconfigured(format!("{name} must be {rule}"))
    }

    /// The schema has the layout with this number.
    pub(crate) fn other_layout(found: i64) -> Self {
        Self::misconfigured(other_layout(found, LAYOUT))
    }

    /// The database gave no answer.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unavailable, text)
    }

    /// The call took too long.
    pub(crate) fn timeout() -> Self {
        Self::unavailable("the database did not answer in time").outage()
    }

    fn new(kind: StoreErrorKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            code: None,
            breaks_connection: false,
            may_repeat: false,
            is_outage: false,
            cause: None,
        }
    }

    /// This error of the program, without which nothing reaches the database.
    pub(crate) fn of_program(cause: Box<dyn Error + Send + Sync>) -> Self {
        let failure = Self::unavailable(cause.to_string()).outage();
        Self { cause: Some(cause), ..failure }
    }

    /// This failure, and what may be its cause.
    pub(crate) fn hinted(self, hint: &str) -> Self {
        Self { text: format!("{}; {hint}", self.text), ..self }
    }

    pub(crate) fn outage(self) -> Self {
        Self { is_outage: true, ..self }
    }

    /// This failure; if no server answered, with the names of the servers.
    pub(crate) fn at(self, servers: &str) -> Self {
        match self.is_outage {
            true => Self { text: format!("postgres at {servers}: {}", self.text), ..self },
            false => self,
        }
    }

    /// This failure, of the operation named `op`.
    pub(crate) fn of(self, op: &'static str) -> StoreError {
        StoreError::new(self.kind, op, self)
    }

    /// Whether the server reported this error.
    pub(crate) fn is(&self, code: &SqlState) -> bool {
        self.code.as_ref() == Some(code)
    }

    /// Whether a function of the store refused the isolation level, before it wrote anything.
    pub(crate) fn is_of_isolation(&self) -> bool {
        self.code.as_ref().is_some_and(|code| code.code() == WRONG_ISOLATION)
    }

    /// Whether the session lacks a statement or a function, which was made in another one. Nothing was carried out then.
    pub(crate) fn is_of_session(&self) -> bool {
        let codes = [
            SqlState::UNDEFINED_FUNCTION,
            SqlState::INVALID_SQL_STATEMENT_NAME,
            // It has no temporary function yet.
            SqlState::INVALID_SCHEMA_NAME,
        ];
        codes.iter().any(|code| self.is(code))
    }

    /// This failure, of a call that may be repeated: nothing was committed.
    pub(crate) fn repeatable(self) -> Self {
        Self { may_repeat: true, ..self }
    }

    /// This failure, of a call that may be repeated although it may have been committed: if the connection was lost, it
    /// is tried over another.
    pub(crate) fn or_again(self) -> Self {
        Self { may_repeat: self.may_repeat || self.breaks_connection, ..self }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        if takes_no_writes(&error) {
            let lost = Self::unavailable(NO_WRITES);
            return Self { breaks_connection: true, ..lost.outage() };
        }
        let Some(code) = error.code().cloned() else {
            // Its source says what happened to the connection.
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            let lost = Self::unavailable(format!("{error}{cause}"));
            return Self { breaks_connection: true, ..lost.outage() };
        };
        let said = error.as_db_error().map_or_else(|| error.to_string(), |it| it.message().into());
        if code.code() == OTHER_LAYOUT {
            return Self::other_layout(said.parse().unwrap_or_default());
        }
        let mut failure = Self::new(kind(&code), said);
        // A server that was demoted, or is shutting down, does not serve this connection again.
        failure.breaks_connection =
            code == SqlState::READ_ONLY_SQL_TRANSACTION || code.code().starts_with("57P");
        // The server undid the transaction because of others.
        failure.may_repeat =
            code == SqlState::T_R_SERIALIZATION_FAILURE || code == SqlState::T_R_DEADLOCK_DETECTED;
        failure.code = Some(code);
        failure
    }
}

/// Returns whether a server was not connected to because it takes no writes.
pub(crate) fn takes_no_writes(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    cause.is_some_and(|cause| {
        cause.kind() == std::io::ErrorKind::PermissionDenied
            && cause.to_string() == "database does not allow writes"
    })
}

fn kind(code: &SqlState) -> StoreErrorKind {
    match *code {
        SqlState::INSUFFICIENT_PRIVILEGE
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INVALID_CATALOG_NAME
        | SqlState::INVALID_PASSWORD
        | SqlState::INVALID_SCHEMA_NAME
        | SqlState::UNDEFINED_COLUMN
        | SqlState::UNDEFINED_FUNCTION
        | SqlState::UNDEFINED_TABLE => StoreErrorKind::Misconfigured,
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE => StoreErrorKind::Contended,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreErrorKind::Corrupt,
        _ if code.code() == WRONG_ISOLATION => StoreErrorKind::Misconfigured,
        _ => StoreErrorKind::Unavailable,
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Self::new(error.kind(), text)
    }
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Self {
        Self::corrupt(unreadable)
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::corrupt(invalid)
    }
}
