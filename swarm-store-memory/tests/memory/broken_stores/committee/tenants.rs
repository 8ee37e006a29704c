//! Faults of isolation.

use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, Day};
use swarm_core::store::{
    CommitteeBasis, CommitteeDayChange, CommitteeMemberChange, CommitteeSessionQuery,
    CommitteeTakesQuery, Result, Saved, Versioned, async_trait,
};

use super::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::{fault, from_all};

fault!(MembersOfAllTenants: committee_members(stores) -> Vec<Versioned<CommitteeMember>> {
    Ok(from_all!(stores.committee_members()))
});

fault!(KeyOfAnyTenant: committee_basis(stores, key: &ApiKeyHash) -> CommitteeBasis {
    let mut facts = stores.own.committee_basis(key).await?;
    for store in &stores.all {
        facts.member = store.committee_basis(key).await?.member.or(facts.member);
    }
    Ok(facts)
});

fault!(MemberSavedInAllTenants: save_committee_member(stores, change: &CommitteeMemberChange) -> Saved {
    let saved = stores.own.save_committee_member(change).await?;
    for store in stores.others().filter(|_| saved == Saved::Saved) {
        let expected = store.committee_member(&change.member.id).await?.map(|it| it.version);
        if expected.is_some() {
            let there = CommitteeMemberChange { expected, ..change.clone() };
            let _ = store.save_committee_member(&there).await?;
        }
    }
    Ok(saved)
});

fault!(DayOfAnyTenant: committee_day(stores, date: Day) -> Option<Versioned<CommitteeDay>> {
    Ok(from_all!(stores.committee_day(date)).into_iter().next())
});

fault!(SessionsOfAllTenants:
    committee_sessions(stores, query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>> {
    Ok(from_all!(stores.committee_sessions(query)))
});

fault!(LatestSessionOfAnyTenant: committee_basis(stores, key: &ApiKeyHash) -> CommitteeBasis {
    let mut facts = stores.own.committee_basis(key).await?;
    for store in &stores.all {
        facts.session = store.committee_basis(key).await?.session.or(facts.session);
    }
    Ok(facts)
});

fault!(BriefsOfAnyTenant:
    committee_briefs(stores, date: Day, member: Option<&CommitteeMemberId>) -> Vec<Arc<CommitteeBrief>> {
    Ok(from_all!(stores.committee_briefs(date, member)))
});

fault!(DaySavedInAllTenants: save_committee_day(stores, change: &CommitteeDayChange) -> Saved {
    let saved = stores.own.save_committee_day(change).await?;
    for store in stores.others().filter(|_| saved == Saved::Saved) {
        let expected = store.committee_day(change.day.date).await?.map(|it| it.version);
        if expected.is_some() {
            let there = CommitteeDayChange { expected, ..change.clone() };
            let _ = store.save_committee_day(&there).await?;
        }
    }
    Ok(saved)
});

fault!(TakesOfAllTenants:
    committee_takes(stores, query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>> {
    Ok(from_all!(stores.committee_takes(query)))
});
