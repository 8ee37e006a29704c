//! The records of one tenant's committee.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use swarm_core::domain::{ApiKeyHash, AttemptId, Day};
use swarm_core::store::{CommitteeSessionQuery, Versioned};

#[derive(Clone, Default)]
pub(crate) struct CommitteeRecords {
    pub(crate) members: BTreeMap<CommitteeMemberId, Versioned<CommitteeMember>>,
    /// Members by key hash.
    pub(crate) keys: HashMap<ApiKeyHash, CommitteeMemberId>,
    pub(crate) days: BTreeMap<Day, Versioned<CommitteeDay>>,
    pub(crate) briefs: BTreeMap<Day, BTreeMap<CommitteeMemberId, Arc<CommitteeBrief>>>,
    /// Every submission of a day, in the order of the commits.
    pub(crate) takes: BTreeMap<Day, Vec<Submitted>>,
}

/// A submission, and the attempt that committed it.
#[derive(Clone)]
pub(crate) struct Submitted {
    pub(crate) attempt: AttemptId,
    pub(crate) take: Arc<CommitteeTake>,
}

impl CommitteeRecords {
    /// The generated days that match, the latest first.
    pub(crate) fn sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> impl Iterator<Item = &Versioned<CommitteeDay>> {
        let matches = |day: &&Versioned<CommitteeDay>| {
            let Some(made) = &day.record.generation else { return false };
            query.before.is_none_or(|before| day.record.date < before)
                && query.subject.as_ref().is_none_or(|subject| made.subject_id == *subject)
        };
        self.days.values().rev().filter(matches).take(query.limit)
    }

    /// All submissions of these days.
    pub(crate) fn on(&self, days: &[Day]) -> Vec<Arc<CommitteeTake>> {
        let submitted = days.iter().filter_map(|day| self.takes.get(day)).flatten();
        submitted.map(|submitted| Arc::clone(&submitted.take)).collect()
    }

    /// The member's last submission on each day about each subject, the latest first.
    pub(crate) fn latest(
        &self,
        member: &CommitteeMemberId,
        before: Day,
        limit: usize,
    ) -> Vec<Arc<CommitteeTake>> {
        let mut seen = HashSet::new();
        let days = self.takes.range(..before).rev();
        days.flat_map(|(_, submitted)| submitted.iter().rev())
            .map(|submitted| &submitted.take)
            .filter(|take| take.member_id == *member)
            .filter(|take| seen.insert((take.date, &take.subject_id)))
            .take(limit)
            .cloned()
            .collect()
    }
}
