//! The judgement of an aggregation on what a store reads.

use super::{Aggregation, Clock, Result, SessionChange, TakeQuery, Takes};
use crate::rules::Refusal;

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
