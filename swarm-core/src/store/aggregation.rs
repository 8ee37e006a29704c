//! Aggregation outside of the lock of commits. The snapshot of many takes takes long to compute, and other commits would
//! wait for it.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Aggregated, Aggregation, Clock, Result, Saved, SessionChange, Sessions, StoreError, TakeQuery,
    Takes,
};
use crate::domain::{SessionId, Version};
use crate::rules::Refusal;

/// Maximum number of attempts of an aggregation while the session keeps changing, or takes are held back too briefly.
const MAX_ATTEMPTS: usize = 32;

/// A store that can hold back the takes of a session.
#[async_trait]
pub trait HoldTakes: Clock + Sessions + Takes {
    /// From now on, takes of this session wait until it is written, or until [`MAX_HOLD_MILLIS`] have passed. Does
    /// nothing unless the session has this version: another aggregation may have written it, and then nobody would end
    /// the wait.
    async fn hold_takes(&self, session: SessionId, version: Version) -> Result<()>;
}

/// Longest time that takes of a session are held back, in milliseconds. Less than the timeout of a call, so that takes
/// do not fail when the aggregating process does.
pub const MAX_HOLD_MILLIS: u64 = 3_000;

/// Implements [`Sessions::aggregate`] for a store whose commits are calls to a server. It holds takes back only after
/// an attempt failed because some were filed meanwhile.
///
/// # Errors
/// The errors of the store; [`StoreErrorKind::Contended`](super::StoreErrorKind::Contended) while the session itself keeps
/// changing.
pub async fn aggregate_holding_takes(
    store: &(impl HoldTakes + ?Sized),
    aggregation: &Aggregation,
) -> Result<Aggregated> {
    for _ in 0..MAX_ATTEMPTS {
        let change = match judge_aggregation(store, aggregation).await? {
            Ok(change) => change,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if store.save_session(&change).await? == Saved::Saved {
            return Ok(Ok(Arc::new(change.session)));
        }
        store.hold_takes(change.session.id, change.expected).await?;
    }
    Err(StoreError::contended("aggregate", "the session kept changing"))
}

/// Aggregates a session in a commit that is guarded by the version of the session and the number of its takes. `None`,
/// with nothing written, if either changed after they were read.
///
/// # Errors
/// The errors of the store.
pub async fn try_aggregate(
    store: &(impl Clock + Sessions + Takes + ?Sized),
    aggregation: &Aggregation,
) -> Result<Option<Aggregated>> {
    match judge_aggregation(store, aggregation).await? {
        Ok(change) => {
            let saved = store.save_session(&change).await?;
            Ok(saved.committed(Ok(Arc::new(change.session))))
        }
        Err(refusal) => Ok(Some(Err(refusal))),
    }
}

/// Reads a session and its takes, and has the rules judge them.
pub(super) async fn judge_aggregation(
    store: &(impl Clock + Takes + ?Sized),
    aggregation: &Aggregation,
) -> Result<std::result::Result<SessionChange, Refusal>> {
    let found = store.session_takes(&TakeQuery::all(aggregation.session)).await?;
    let (session, takes) = found.map(|found| (found.session, found.takes)).unzip();
    // Read last, so that no take of the snapshot was filed after it.
    let now = store.now().await?;
    Ok(aggregation.judge(session.as_ref(), &takes.unwrap_or_default(), now))
}
