//! The part of the port for the daily committee (interface B). It can be implemented alone.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Clock, Documents, Log, Result, Saved};
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use crate::domain::{ApiKeyHash, Day, SubjectId, TenantId};
use crate::rules::Versioned;
use crate::rules::committee::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiling, CommitteeMemberChange,
};

/// The committees of all tenants of one store.
pub trait CommitteeTenants: Send + Sync {
    /// Opens the committee of one tenant. It is cheap and does no I/O. Tenants share no data. If
    /// the store also serves interface A, the [`Documents`] are the same as there.
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore>;

    /// Opens the committee of one tenant for a dry run: see [`Tenants::open_dry_run`](super::Tenants::open_dry_run).
    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore>;
}

/// The committee of one tenant, with the subjects, subject snapshots and regimes for its briefs,
/// and the log of the tenant.
pub trait CommitteeStore: Clock + Documents + Committee + Log {}

impl<T: Clock + Documents + Committee + Log> CommitteeStore for T {}

/// The part of the port for the records of the committee.
#[async_trait]
pub trait Committee: Send + Sync {
    /// All members, of either status, by id.
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>>;

    /// A member of either status.
    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>>;

    /// Writes a member, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such member);
    /// - keep the index of key hashes consistent with the records: a replaced key stops working
    ///   with the commit.
    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved>;

    /// One day.
    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>>;

    /// The days with a generation that match, latest first.
    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>>;

    /// Writes a day, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such day);
    /// - replace all briefs of that day by `change.briefs`, if given, in the same commit: a reader
    ///   sees either all old or all new ones. A store may then delete the briefs of earlier days.
    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved>;

    /// The briefs of a day, by member id; with `member`, only its brief, if any.
    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>>;

    /// The facts that a submission is judged on, read in one round trip: the time, the member whose
    /// record has this key hash, and the latest day with a generation.
    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis>;

    /// Files a submission, atomically and durably, in one round trip.
    ///
    /// To ensure correctness, check in this order and write nothing before the last check:
    /// 1. if the member already filed this attempt on that day (a client library may send a commit
    ///    twice), return the same result as then, [`CommitteeFiled::Filed`], even if the clock is too far
    ///    behind;
    /// 2. unless the versions of the member and of the day are those of the filing, return
    ///    [`CommitteeFiled::Stale`];
    /// 3. read the store's clock, once and inside the critical section of the commit (not while it
    ///    waits for a lock); if it is past `commit_deadline`, return [`CommitteeFiled::Late`];
    /// 4. unless the member has fewer submissions on that day than [`CommitteeFiling::quota`],
    ///    return [`CommitteeFiled::Full`];
    /// 5. record [`CommitteeFiling::take`] with the time of step 3, after the other submissions of
    ///    the day. The versions of the member and of the day do not change.
    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled>;

    /// The submissions that match.
    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>>;
}

/// A filter for sessions.
#[derive(Clone, Debug, Default)]
pub struct CommitteeSessionQuery {
    /// Only sessions whose latest generation has this subject.
    pub subject: Option<SubjectId>,
    /// Only sessions of earlier days.
    pub before: Option<Day>,
    /// The maximum number of results.
    pub limit: usize,
}

/// A filter for submissions.
#[derive(Clone, Copy, Debug)]
pub enum CommitteeTakesQuery<'a> {
    /// All submissions of these days, in the given order of days, then in the order of commits.
    On(&'a [Day]),
    /// The last submission of the member for each day and subject, by day and then by commit,
    /// latest first.
    Latest {
        /// The member.
        member: &'a CommitteeMemberId,
        /// Only submissions of earlier days.
        before: Day,
        /// The maximum number of results.
        limit: usize,
    },
}

/// The outcome of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum CommitteeFiled {
    /// The filing is committed: this is the stored record.
    Filed(Arc<CommitteeTake>),
    /// The member or the day has changed since: load and judge again.
    Stale,
    /// The deadline passed before the commit.
    Late,
    /// The member has reached its quota of the day.
    Full,
}
