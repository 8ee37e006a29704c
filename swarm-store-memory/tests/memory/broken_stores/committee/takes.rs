//! Faults of submissions.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use swarm_core::domain::AttemptId;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::store::{
    CommitteeFiled, CommitteeFiling, CommitteeTakesQuery, Result, async_trait,
};

use super::broken::{Fault, TenantStores};
use crate::broken_stores::broken::{SHOWN, time};
use crate::broken_stores::tenants::fault;

fault!(TakesInAnyOrder:
    committee_takes(stores, query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>> {
    Ok(stores.own.committee_takes(query).await?.into_iter().rev().collect())
});

fault!(LimitForgotten:
    committee_takes(stores, query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>> {
    let mut query = *query;
    if let CommitteeTakesQuery::Latest { limit, .. } = &mut query {
        *limit = usize::MAX;
    }
    stores.own.committee_takes(&query).await
});

/// A resent attempt is refused.
#[derive(Default)]
pub(crate) struct AttemptForgotten(Mutex<HashSet<AttemptId>>);

#[async_trait]
impl Fault for AttemptForgotten {
    async fn file_committee(
        &self,
        stores: &TenantStores,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        if !self.0.lock().unwrap().insert(filing.attempt()) {
            return Ok(CommitteeFiled::Stale);
        }
        stores.own.file_committee(filing).await
    }
}

/// Attempts of different members with the same number are mixed up.
#[derive(Default)]
pub(crate) struct AttemptOfAnybody(Mutex<HashMap<AttemptId, CommitteeFiled>>);

#[async_trait]
impl Fault for AttemptOfAnybody {
    async fn file_committee(
        &self,
        stores: &TenantStores,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        if let Some(again) = self.0.lock().unwrap().get(&filing.attempt()) {
            return Ok(again.clone());
        }
        let outcome = stores.own.file_committee(filing).await?;
        self.0.lock().unwrap().insert(filing.attempt(), outcome.clone());
        Ok(outcome)
    }
}

fault!(StaleMemberAcknowledged: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    acknowledged(stores, filing).await
});

fault!(StaleDayAcknowledged: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    acknowledged(stores, filing).await
});

async fn acknowledged(stores: &TenantStores, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
    match stores.own.file_committee(filing).await? {
        CommitteeFiled::Stale => Ok(CommitteeFiled::Filed(Arc::new(filing.take(time())))),
        other => Ok(other),
    }
}

fault!(LateAtTheDeadline: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    let outcome = stores.own.file_committee(filing).await?;
    let at_the_deadline = matches!(
        &outcome,
        CommitteeFiled::Filed(take) if take.received_at == filing.commit_deadline()
    );
    Ok(if at_the_deadline { CommitteeFiled::Late } else { outcome })
});

fault!(DeadlineUnchecked: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    SHOWN.scope(filing.commit_deadline(), stores.own.file_committee(filing)).await
});

fault!(QuotaUnchecked: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    stores.own.file_committee(&filing.clone().with_quota(u32::MAX)).await
});
