//! Judging again what changed before it was committed.

use super::Error;
use crate::store::StoreError;

/// How often a judgement is repeated because the facts had changed, before the store is said not to
/// answer. Each time somebody else's change was committed, so progress was made.
const ATTEMPTS: usize = 32;

/// Loads, judges and commits until the commit is not stale. `attempt` does all three, and answers
/// `None` when the facts had changed in between.
///
/// # Errors
/// What `attempt` says; [`Error::Store`] of the kind contended when the facts kept changing.
pub(super) async fn until_committed<T, R, F>(
    op: &'static str,
    attempt: impl Fn() -> F,
) -> Result<T, Error<R>>
where
    F: Future<Output = Result<Option<T>, Error<R>>>,
{
    for _ in 0..ATTEMPTS {
        if let Some(committed) = attempt().await? {
            return Ok(committed);
        }
    }
    Err(StoreError::contended(op, "the facts kept changing").into())
}
