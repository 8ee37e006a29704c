//! Why a call gave no result.

use super::NoEntropy;
use crate::rules::{Refusal, Rejection};
use crate::store::StoreError;

/// A call that gave no result: a rule said no, or the world did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rule said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store could not answer, or facts changed faster than they could be judged. Whether
    /// something was committed is not known; nothing was acknowledged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There was no randomness to be had.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

/// A submission that gave no receipt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// A rule said no.
    #[error(transparent)]
    Refused(#[from] Rejection),
    /// As [`Error::Store`].
    #[error(transparent)]
    Store(#[from] StoreError),
    /// As [`Error::Entropy`].
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

/// The facts changed faster than they could be judged.
pub(super) fn contended(op: &'static str) -> StoreError {
    StoreError::new(op, "the facts kept moving")
}
