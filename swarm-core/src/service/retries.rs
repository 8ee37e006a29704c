//! Optimistic retries: load, judge and commit again when the facts have changed.

use tracing::Instrument as _;

use super::Error;
use crate::store::StoreError;

/// The maximum number of attempts, before the call fails as contended. Whenever an attempt fails,
/// another change was committed, so the system as a whole makes progress.
const MAX_ATTEMPTS: usize = 32;

/// Repeats `attempt` until it commits. It loads the facts, judges and commits, and returns `None`
/// when the facts had changed in between. All attempts run in one span `change`, whose field `op` names the change.
///
/// # Errors
/// The error of `attempt`; [`Error::Store`] of the kind contended after [`MAX_ATTEMPTS`].
pub(super) async fn until_committed<T, R, F>(
    op: &'static str,
    attempt: impl Fn() -> F,
) -> Result<T, Error<R>>
where
    F: Future<Output = Result<Option<T>, Error<R>>>,
{
    let attempts = async {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(committed) = attempt().await? {
                return Ok(committed);
            }
            tracing::debug!("the facts have changed: judged again");
        }
        Err(StoreError::contended(op, "the facts kept changing").into())
    };
    attempts.instrument(tracing::debug_span!("change", op)).await
}
