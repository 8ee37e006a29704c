//! Faults that show under concurrency. Each call is slow, so that calls overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::domain::ApiKeyHash;
use swarm_core::store::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange,
    Result, Saved, async_trait,
};
use tokio::time::sleep;

use super::broken::{Fault, TenantStores};
use crate::broken_stores::broken::time;
use crate::broken_stores::tenants::fault;

fault!(LastMemberWins: save_committee_member(stores, change: &CommitteeMemberChange) -> Saved {
    sleep(Duration::from_millis(100)).await;
    match stores.own.save_committee_member(change).await? {
        Saved::Saved | Saved::Stale => Ok(Saved::Saved),
    }
});

fault!(LostDaySaidToBeSaved: save_committee_day(stores, change: &CommitteeDayChange) -> Saved {
    sleep(Duration::from_millis(100)).await;
    match stores.own.save_committee_day(change).await? {
        Saved::Saved | Saved::Stale => Ok(Saved::Saved),
    }
});

/// Loses every fifth submission.
#[derive(Default)]
pub(crate) struct SubmissionsLost(AtomicUsize);

#[async_trait]
impl Fault for SubmissionsLost {
    async fn file_committee(
        &self,
        stores: &TenantStores,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        match self.0.fetch_add(1, Ordering::SeqCst) % 5 {
            4 => Ok(CommitteeFiled::Filed(Arc::new(filing.take(time())))),
            _ => stores.own.file_committee(filing).await,
        }
    }
}

/// The clock is a second behind, and no submission is late.
#[derive(Default)]
pub(crate) struct LateAcknowledged;

#[async_trait]
impl Fault for LateAcknowledged {
    async fn committee_basis(
        &self,
        stores: &TenantStores,
        key: &ApiKeyHash,
    ) -> Result<CommitteeBasis> {
        let facts = stores.own.committee_basis(key).await?;
        Ok(CommitteeBasis { now: facts.now.plus_millis(-1_000), ..facts })
    }

    async fn file_committee(
        &self,
        stores: &TenantStores,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        match stores.own.file_committee(filing).await? {
            CommitteeFiled::Late => Ok(CommitteeFiled::Filed(Arc::new(filing.take(time())))),
            other => Ok(other),
        }
    }
}

// A submission changes its member's version.
fault!(FilingSavesItsMember: file_committee(stores, filing: &CommitteeFiling) -> CommitteeFiled {
    let outcome = stores.own.file_committee(filing).await?;
    if let Some(there) = stores.own.committee_member(filing.member().0).await? {
        let member = (*there.record).clone();
        let change = CommitteeMemberChange { member, expected: Some(there.version), operator_act: None };
        let _ = stores.own.save_committee_member(&change).await?;
    }
    Ok(outcome)
});
