//! Faults of members, days, briefs and the log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeStatus,
};
use swarm_core::domain::{ApiKeyHash, Day, LogRow, Logged, Seq};
use swarm_core::store::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling, CommitteeMemberChange,
    CommitteeSessionQuery, LogPosition, Result, Saved, Versioned, async_trait,
};
use tokio::time::sleep;

use super::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(MemberAtAnyVersion: save_committee_member(stores, change: &CommitteeMemberChange) -> Saved {
    let there = stores.own.committee_member(&change.member.id).await?;
    let expected = there.map(|member| member.version);
    stores.own.save_committee_member(&CommitteeMemberChange { expected, ..change.clone() }).await
});

fault!(MembersInAnyOrder: committee_members(stores) -> Vec<Versioned<CommitteeMember>> {
    Ok(stores.own.committee_members().await?.into_iter().rev().collect())
});

/// Old keys keep resolving.
#[derive(Default)]
pub(crate) struct OldKeysLive(Mutex<HashMap<ApiKeyHash, CommitteeMemberId>>);

#[async_trait]
impl Fault for OldKeysLive {
    async fn save_committee_member(
        &self,
        stores: &TenantStores,
        change: &CommitteeMemberChange,
    ) -> Result<Saved> {
        self.0.lock().unwrap().insert(change.member.key, change.member.id.clone());
        stores.own.save_committee_member(change).await
    }

    async fn committee_basis(
        &self,
        stores: &TenantStores,
        key: &ApiKeyHash,
    ) -> Result<CommitteeBasis> {
        let facts = stores.own.committee_basis(key).await?;
        let Some(id) = self.0.lock().unwrap().get(key).cloned() else { return Ok(facts) };
        Ok(CommitteeBasis { member: stores.own.committee_member(&id).await?, ..facts })
    }
}

fault!(StatusForgotten: committee_basis(stores, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = stores.own.committee_basis(key).await?;
    let member = facts.member.map(|Versioned { version, record }| {
        let record = CommitteeMember::clone(&record);
        let active = CommitteeMember { status: CommitteeStatus::Active, ..record };
        Versioned { version, record: Arc::new(active) }
    });
    Ok(CommitteeBasis { member, ..facts })
});

fault!(DayAtAnyVersion: save_committee_day(stores, change: &CommitteeDayChange) -> Saved {
    let expected = stores.own.committee_day(change.day.date).await?.map(|day| day.version);
    stores.own.save_committee_day(&CommitteeDayChange { expected, ..change.clone() }).await
});

fault!(SessionsInAnyOrder:
    committee_sessions(stores, query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>> {
    Ok(stores.own.committee_sessions(query).await?.into_iter().rev().collect())
});

fault!(SubjectUnasked:
    committee_sessions(stores, query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>> {
    stores.own.committee_sessions(&CommitteeSessionQuery { subject: None, ..query.clone() }).await
});

fault!(FirstSessionShown: committee_basis(stores, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = stores.own.committee_basis(key).await?;
    let all = CommitteeSessionQuery { limit: usize::MAX, ..CommitteeSessionQuery::default() };
    Ok(CommitteeBasis { session: stores.own.committee_sessions(&all).await?.pop(), ..facts })
});

fault!(FactsReadOneByOne: committee_basis(stores, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = stores.own.committee_basis(key).await?;
    sleep(Duration::from_millis(5)).await;
    Ok(CommitteeBasis { session: stores.own.committee_basis(key).await?.session, ..facts })
});

fault!(BriefsAdded: save_committee_day(stores, change: &CommitteeDayChange) -> Saved {
    let mut change = change.clone();
    if let Some(briefs) = &mut change.briefs {
        let before = stores.own.committee_briefs(change.day.date, None).await?;
        let is_new = |old: &CommitteeBrief| briefs.iter().all(|it| it.member_id != old.member_id);
        let kept: Vec<_> = before.iter().filter(|old| is_new(old)).collect();
        briefs.extend(kept.into_iter().map(|old| CommitteeBrief::clone(old)));
    }
    stores.own.save_committee_day(&change).await
});

fault!(BriefsLost: save_committee_day(stores, change: &CommitteeDayChange) -> Saved {
    let briefs = Some(change.briefs.clone().unwrap_or_default());
    stores.own.save_committee_day(&CommitteeDayChange { briefs, ..change.clone() }).await
});

/// Only the briefs of the last written day are kept.
#[derive(Default)]
pub(crate) struct OneDaysBriefsKept(Mutex<Option<Day>>);

#[async_trait]
impl Fault for OneDaysBriefsKept {
    async fn save_committee_day(
        &self,
        stores: &TenantStores,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        *self.0.lock().unwrap() = Some(change.day.date);
        stores.own.save_committee_day(change).await
    }

    async fn committee_briefs(
        &self,
        stores: &TenantStores,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        let is_kept = *self.0.lock().unwrap() == Some(date);
        if is_kept { stores.own.committee_briefs(date, member).await } else { Ok(Vec::new()) }
    }
}

/// A read that is slower than a write.
#[derive(Default)]
pub(crate) struct BriefsReadOneByOne;

#[async_trait]
impl Fault for BriefsReadOneByOne {
    async fn save_committee_day(
        &self,
        stores: &TenantStores,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        let saved = stores.own.save_committee_day(change).await?;
        sleep(Duration::from_millis(1)).await;
        Ok(saved)
    }

    async fn committee_briefs(
        &self,
        stores: &TenantStores,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        let mut briefs = stores.own.committee_briefs(date, member).await?;
        sleep(Duration::from_millis(3)).await;
        briefs.truncate(briefs.len() / 2);
        let rest = stores.own.committee_briefs(date, member).await?;
        briefs.extend(rest.into_iter().skip(briefs.len()));
        Ok(briefs)
    }
}

/// A row of the log even for refused commits.
#[derive(Default)]
pub(crate) struct RowForEachAttempt(AtomicU64);

#[async_trait]
impl Fault for RowForEachAttempt {
    async fn save_committee_day(
        &self,
        stores: &TenantStores,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        self.0.fetch_add(1, Ordering::SeqCst);
        stores.own.save_committee_day(change).await
    }

    async fn file_committee(
        &self,
        stores: &TenantStores,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        self.0.fetch_add(1, Ordering::SeqCst);
        stores.own.file_committee(filing).await
    }

    async fn log_position(&self, _: &TenantStores) -> Result<LogPosition> {
        let size = Seq(self.0.load(Ordering::SeqCst));
        Ok(LogPosition { size, ..LogPosition::default() })
    }
}

fault!(TakesUnlogged: log(stores, after: Seq, limit: usize) -> Vec<LogRow> {
    let mut rows = stores.own.log(after, limit).await?;
    rows.retain(|row| !matches!(row.logged, Logged::CommitteeTake(_)));
    Ok(rows)
});
