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

use super::broken::{Fault, Worlds};
use crate::broken_stores::tenants::fault;

fault!(MemberAtAnyVersion: save_committee_member(worlds, change: &CommitteeMemberChange) -> Saved {
    let there = worlds.own.committee_member(&change.member.id).await?;
    let expected = there.map(|member| member.version);
    worlds.own.save_committee_member(&CommitteeMemberChange { expected, ..change.clone() }).await
});

fault!(MembersInAnyOrder: committee_members(worlds) -> Vec<Versioned<CommitteeMember>> {
    Ok(worlds.own.committee_members().await?.into_iter().rev().collect())
});

/// Old keys keep resolving.
#[derive(Default)]
pub(crate) struct OldKeysLive(Mutex<HashMap<ApiKeyHash, CommitteeMemberId>>);

#[async_trait]
impl Fault for OldKeysLive {
    async fn save_committee_member(
        &self,
        worlds: &Worlds,
        change: &CommitteeMemberChange,
    ) -> Result<Saved> {
        self.0.lock().unwrap().insert(change.member.key, change.member.id.clone());
        worlds.own.save_committee_member(change).await
    }

    async fn committee_basis(&self, worlds: &Worlds, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        let facts = worlds.own.committee_basis(key).await?;
        let Some(id) = self.0.lock().unwrap().get(key).cloned() else { return Ok(facts) };
        Ok(CommitteeBasis { member: worlds.own.committee_member(&id).await?, ..facts })
    }
}

fault!(StatusForgotten: committee_basis(worlds, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = worlds.own.committee_basis(key).await?;
    let member = facts.member.map(|Versioned { version, record }| {
        let record = CommitteeMember::clone(&record);
        let active = CommitteeMember { status: CommitteeStatus::Active, ..record };
        Versioned { version, record: Arc::new(active) }
    });
    Ok(CommitteeBasis { member, ..facts })
});

fault!(DayAtAnyVersion: save_committee_day(worlds, change: &CommitteeDayChange) -> Saved {
    let expected = worlds.own.committee_day(change.day.date).await?.map(|day| day.version);
    worlds.own.save_committee_day(&CommitteeDayChange { expected, ..change.clone() }).await
});

fault!(SessionsInAnyOrder:
    committee_sessions(worlds, query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>> {
    Ok(worlds.own.committee_sessions(query).await?.into_iter().rev().collect())
});

fault!(SubjectUnasked:
    committee_sessions(worlds, query: &CommitteeSessionQuery) -> Vec<Versioned<CommitteeDay>> {
    worlds.own.committee_sessions(&CommitteeSessionQuery { subject: None, ..query.clone() }).await
});

fault!(FirstSessionShown: committee_basis(worlds, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = worlds.own.committee_basis(key).await?;
    let all = CommitteeSessionQuery { limit: usize::MAX, ..CommitteeSessionQuery::default() };
    Ok(CommitteeBasis { session: worlds.own.committee_sessions(&all).await?.pop(), ..facts })
});

fault!(FactsReadOneByOne: committee_basis(worlds, key: &ApiKeyHash) -> CommitteeBasis {
    let facts = worlds.own.committee_basis(key).await?;
    sleep(Duration::from_millis(5)).await;
    Ok(CommitteeBasis { session: worlds.own.committee_basis(key).await?.session, ..facts })
});

fault!(BriefsAdded: save_committee_day(worlds, change: &CommitteeDayChange) -> Saved {
    let mut change = change.clone();
    if let Some(briefs) = &mut change.briefs {
        let before = worlds.own.committee_briefs(change.day.date, None).await?;
        let is_new = |old: &CommitteeBrief| briefs.iter().all(|it| it.member_id != old.member_id);
        let kept: Vec<_> = before.iter().filter(|old| is_new(old)).collect();
        briefs.extend(kept.into_iter().map(|old| CommitteeBrief::clone(old)));
    }
    worlds.own.save_committee_day(&change).await
});

fault!(BriefsLost: save_committee_day(worlds, change: &CommitteeDayChange) -> Saved {
    let briefs = Some(change.briefs.clone().unwrap_or_default());
    worlds.own.save_committee_day(&CommitteeDayChange { briefs, ..change.clone() }).await
});

/// Only the briefs of the last written day are kept.
#[derive(Default)]
pub(crate) struct OneDaysBriefsKept(Mutex<Option<Day>>);

#[async_trait]
impl Fault for OneDaysBriefsKept {
    async fn save_committee_day(
        &self,
        worlds: &Worlds,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        *self.0.lock().unwrap() = Some(change.day.date);
        worlds.own.save_committee_day(change).await
    }

    async fn committee_briefs(
        &self,
        worlds: &Worlds,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        let is_kept = *self.0.lock().unwrap() == Some(date);
        if is_kept { worlds.own.committee_briefs(date, member).await } else { Ok(Vec::new()) }
    }
}

/// A read that is slower than a write.
#[derive(Default)]
pub(crate) struct BriefsReadOneByOne;

#[async_trait]
impl Fault for BriefsReadOneByOne {
    async fn save_committee_day(
        &self,
        worlds: &Worlds,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        let saved = worlds.own.save_committee_day(change).await?;
        sleep(Duration::from_millis(1)).await;
        Ok(saved)
    }

    async fn committee_briefs(
        &self,
        worlds: &Worlds,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        let mut briefs = worlds.own.committee_briefs(date, member).await?;
        sleep(Duration::from_millis(3)).await;
        briefs.truncate(briefs.len() / 2);
        let rest = worlds.own.committee_briefs(date, member).await?;
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
        worlds: &Worlds,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        self.0.fetch_add(1, Ordering::SeqCst);
        worlds.own.save_committee_day(change).await
    }

    async fn file_committee(
        &self,
        worlds: &Worlds,
        filing: &CommitteeFiling,
    ) -> Result<CommitteeFiled> {
        self.0.fetch_add(1, Ordering::SeqCst);
        worlds.own.file_committee(filing).await
    }

    async fn log_position(&self, _: &Worlds) -> Result<LogPosition> {
        let size = Seq(self.0.load(Ordering::SeqCst));
        Ok(LogPosition { size, ..LogPosition::default() })
    }
}

fault!(TakesUnlogged: log(worlds, after: Seq, limit: usize) -> Vec<LogRow> {
    let mut rows = worlds.own.log(after, limit).await?;
    rows.retain(|row| !matches!(row.logged, Logged::CommitteeTake(_)));
    Ok(rows)
});
