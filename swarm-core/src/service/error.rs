//! The error types of the service.

use crate::proof::NoEntropy;
use crate::rules::{Refusal, Rejection};
use crate::store::StoreError;

/// The error of a call: a rule refused it, or the store or the source of randomness failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<R = Refusal> {
    /// A rule refused the call.
    #[error(transparent)]
    Refused(R),
    /// The store could not answer. It is unknown whether something was committed, unless the error
    /// [`is_contended`](StoreError::is_contended): then nothing was.
    #[error(transparent)]
    Store(StoreError),
    /// No random bytes were available. Nothing was committed.
    #[error(transparent)]
    Entropy(NoEntropy),
}

/// The text of an error with all its causes, for logs: `store unavailable: ready: connection refused`.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.map(ToString::to_string).fold(error.to_string(), |text, cause| {
        // Some errors repeat the text of their cause.
        if text.ends_with(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// The error of a submission.
pub type SubmitError = Error<Rejection>;

impl Error {
    /// Returns the record that was read, or `None` if there is none.
    ///
    /// # Errors
    /// All but [`Refusal::NotFound`].
    pub fn if_any<T>(read: Result<T, Self>) -> Result<Option<T>, Self> {
        match read {
            Ok(record) => Ok(Some(record)),
            Err(Self::Refused(Refusal::NotFound(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<R> Error<R> {
    /// Converts the refusal.
    pub fn map_refused<S>(self, map: impl FnOnce(R) -> S) -> Error<S> {
        match self {
            Self::Refused(refusal) => Error::Refused(map(refusal)),
            Self::Store(error) => Error::Store(error),
            Self::Entropy(error) => Error::Entropy(error),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Rejection> for SubmitError {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

impl<R> From<StoreError> for Error<R> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<R> From<NoEntropy> for Error<R> {
    fn from(error: NoEntropy) -> Self {
        Self::Entropy(error)
    }
}
