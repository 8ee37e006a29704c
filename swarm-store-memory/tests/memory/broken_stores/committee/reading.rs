//! Faults of reading members, days, briefs and takes.

use std::sync::{Arc, Mutex};

use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake, Voice,
};
use swarm_core::domain::{ApiKeyHash, Day};
use swarm_core::store::{
    CommitteeBasis, CommitteeDayChange, CommitteeTakesQuery, Result, Saved, Versioned, async_trait,
};
use swarm_testing::FIRST;
use swarm_testing::committee::member;

use super::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(MemberInvented: committee_members(stores) -> Vec<Versioned<CommitteeMember>> {
    let invented = || Versioned { version: FIRST, record: Arc::new(member("nobody")) };
    let members = stores.own.committee_members().await?;
    Ok(if members.is_empty() { vec![invented()] } else { members })
});

fault!(VoiceForgotten: committee_members(stores) -> Vec<Versioned<CommitteeMember>> {
    let voiceless = |Versioned { version, record }: Versioned<CommitteeMember>| {
        let voice = Voice::parse("").unwrap();
        let record = Arc::new(CommitteeMember { voice, ..CommitteeMember::clone(&record) });
        Versioned { version, record }
    };
    Ok(stores.own.committee_members().await?.into_iter().map(voiceless).collect())
});

fault!(DayInvented: committee_day(stores, date: Day) -> Option<Versioned<CommitteeDay>> {
    let invented = || Versioned { version: FIRST, record: Arc::new(CommitteeDay::blank(date)) };
    Ok(stores.own.committee_day(date).await?.or_else(|| Some(invented())))
});

fault!(SynthesisForgotten: committee_day(stores, date: Day) -> Option<Versioned<CommitteeDay>> {
    Ok(stores.own.committee_day(date).await?.map(|Versioned { version, record }| {
        let day = CommitteeDay { synthesis: None, ..CommitteeDay::clone(&record) };
        Versioned { version, record: Arc::new(day) }
    }))
});

fault!(BriefTidied:
    committee_briefs(stores, date: Day, member: Option<&CommitteeMemberId>)
    -> Vec<Arc<CommitteeBrief>> {
    let tidy = |brief: Arc<CommitteeBrief>| {
        let head = brief.head.replace('\u{0}', "");
        Arc::new(CommitteeBrief { head, ..CommitteeBrief::clone(&brief) })
    };
    Ok(stores.own.committee_briefs(date, member).await?.into_iter().map(tidy).collect())
});

fault!(ModelForgotten:
    committee_takes(stores, query: &CommitteeTakesQuery<'_>) -> Vec<Arc<CommitteeTake>> {
    let plain = |take: Arc<CommitteeTake>| {
        Arc::new(CommitteeTake { model: None, ..CommitteeTake::clone(&take) })
    };
    Ok(stores.own.committee_takes(query).await?.into_iter().map(plain).collect())
});

/// The facts show an outdated session.
#[derive(Default)]
pub(crate) struct LostSessionShown(Mutex<Option<Versioned<CommitteeDay>>>);

#[async_trait]
impl Fault for LostSessionShown {
    async fn save_committee_day(
        &self,
        stores: &TenantStores,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        let saved = stores.own.save_committee_day(change).await?;
        if change.day.generation.is_some() {
            let shown = stores.own.committee_day(change.day.date).await?;
            *self.0.lock().unwrap() = shown;
        }
        Ok(saved)
    }

    async fn committee_basis(
        &self,
        stores: &TenantStores,
        key: &ApiKeyHash,
    ) -> Result<CommitteeBasis> {
        let facts = stores.own.committee_basis(key).await?;
        let session = facts.session.clone().or_else(|| self.0.lock().unwrap().clone());
        Ok(CommitteeBasis { session, ..facts })
    }
}
