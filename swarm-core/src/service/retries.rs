//! Retries of changes that were stale when they came to be committed.

use super::Error;
use crate::store::StoreError;

/// How often a judgement is retried because the facts had changed, before the call fails as
/// contended. Each time another change was committed, so progress was made.
const ATTEMPTS: usize = 32;

/// Loads, judges and commits, and retries while the commit is stale. `attempt` does all three, and
/// returns `None` when the facts had changed in between.
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
