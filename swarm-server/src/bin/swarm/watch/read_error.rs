//! Why a look at a log ends early: the log was not reached, or it does not serve what it signed.

use swarm_client::Error;

use crate::Failure;

/// Why a log cannot be read.
pub(super) enum ReadError {
    Failure(Failure),
    /// It signed what it does not serve, or what does not hold.
    Broken(String),
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refused) if refused.status == 404 => {
                Self::Broken(format!("a gap: a tile is not served: {refused}"))
            }
            error => Self::Failure(error.into()),
        }
    }
}
