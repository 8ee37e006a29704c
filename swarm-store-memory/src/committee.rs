//! The daily committee.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, Day};
use swarm_core::store::{
    Committee, CommitteeBasis, CommitteeDayChange, CommitteeFiled, CommitteeFiling,
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Result, Saved, Versioned,
};

use crate::TenantStore;
use crate::committee_records::{CommitteeRecords, Submitted};
use crate::tenant_records::{TenantRecords, count, first, next};

#[async_trait]
impl Committee for TenantStore {
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>> {
        Ok(self.read(|TenantRecords { committee: records, .. }| {
            records.members.values().cloned().collect()
        }))
    }

    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>> {
        Ok(self.read(|tenant| tenant.committee.members.get(id).cloned()))
    }

    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved> {
        self.commit(|tenant, _| save_member(&mut tenant.committee, change))
    }

    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>> {
        Ok(self.read(|TenantRecords { committee: records, .. }| records.days.get(&date).cloned()))
    }

    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>> {
        Ok(self.read(|TenantRecords { committee: records, .. }| {
            records.sessions(query).cloned().collect()
        }))
    }

    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved> {
        self.commit(|tenant, now| {
            let saved = save_day(&mut tenant.committee, change);
            if saved == Saved::Saved {
                tenant.log.act(&change.act, now);
            }
            saved
        })
    }

    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>> {
        Ok(self.read(|TenantRecords { committee: records, .. }| {
            let Some(briefs) = records.briefs.get(&date) else { return Vec::new() };
            match member {
                Some(member) => briefs.get(member).cloned().into_iter().collect(),
                None => briefs.values().cloned().collect(),
            }
        }))
    }

    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis> {
        self.facts(|tenant| {
            let records = &tenant.committee;
            let latest = CommitteeSessionQuery { limit: 1, ..CommitteeSessionQuery::default() };
            CommitteeBasis {
                now: self.time(tenant),
                member: records.keys.get(key).and_then(|id| records.members.get(id)).cloned(),
                session: records.sessions(&latest).next().cloned(),
            }
        })
    }

    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled> {
        self.commit_unless(
            |tenant| known(&tenant.committee, filing),
            |tenant, now| file(tenant, filing, now),
        )
    }

    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>> {
        Ok(self.read(|TenantRecords { committee: records, .. }| match *query {
            CommitteeTakesQuery::On(days) => records.on(days),
            CommitteeTakesQuery::Latest { member, before, limit } => {
                records.latest(member, before, limit)
            }
        }))
    }
}

fn save_member(records: &mut CommitteeRecords, change: &CommitteeMemberChange) -> Saved {
    let id = &change.member.id;
    let stored = records.members.get(id);
    if stored.map(|member| member.version) != change.expected {
        return Saved::Stale;
    }
    let written = match stored {
        Some(member) => {
            records.keys.remove(&member.record.key);
            next(member.version, change.member.clone())
        }
        None => first(change.member.clone()),
    };
    records.keys.insert(change.member.key, id.clone());
    records.members.insert(id.clone(), written);
    Saved::Saved
}

fn save_day(records: &mut CommitteeRecords, change: &CommitteeDayChange) -> Saved {
    let date = change.day.date;
    let stored = records.days.get(&date).map(|day| day.version);
    if stored != change.expected {
        return Saved::Stale;
    }
    if let Some(briefs) = &change.briefs {
        let by_member = |brief: &CommitteeBrief| (brief.member_id.clone(), Arc::new(brief.clone()));
        // Briefs of earlier days are never read.
        records.briefs = records.briefs.split_off(&date);
        records.briefs.insert(date, briefs.iter().map(by_member).collect());
    }
    let day = change.day.clone();
    let written = match stored {
        Some(version) => next(version, day),
        None => first(day),
    };
    records.days.insert(date, written);
    Saved::Saved
}

/// The outcome that does not depend on the time: of an attempt that was filed before, or of facts that changed.
fn known(records: &CommitteeRecords, filing: &CommitteeFiling) -> Option<CommitteeFiled> {
    let (member, member_version) = filing.member();
    let (date, day_version) = filing.session();
    let mut submitted = records.takes.get(&date).into_iter().flatten();
    let again = submitted.find(|submitted| {
        submitted.attempt == filing.attempt() && submitted.take.member_id == *member
    });
    if let Some(again) = again {
        return Some(CommitteeFiled::Filed(Arc::clone(&again.take)));
    }
    let member_on_file = records.members.get(member).map(|member| member.version);
    let day_on_file = records.days.get(&date).map(|day| day.version);
    let is_current = (member_on_file, day_on_file) == (Some(member_version), Some(day_version));
    (!is_current).then_some(CommitteeFiled::Stale)
}

/// Files a submission whose facts are current.
fn file(tenant: &mut TenantRecords, filing: &CommitteeFiling, now: Timestamp) -> CommitteeFiled {
    let records = &mut tenant.committee;
    let ((member, _), (date, _)) = (filing.member(), filing.session());
    let submitted = records.takes.get(&date).map(Vec::as_slice).unwrap_or_default();
    if now > filing.commit_deadline() {
        return CommitteeFiled::Late;
    }
    let own = submitted.iter().filter(|submitted| submitted.take.member_id == *member).count();
    if filing.quota().is_some_and(|quota| own >= count(quota)) {
        return CommitteeFiled::Full;
    }
    let take = Arc::new(filing.take(now));
    let submitted = Submitted { attempt: filing.attempt(), take: Arc::clone(&take) };
    records.takes.entry(date).or_default().push(submitted);
    tenant.log.committee_take(&take);
    CommitteeFiled::Filed(take)
}
