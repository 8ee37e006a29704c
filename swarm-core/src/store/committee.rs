//! The daily committee (interface B), apart from everything else.

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
    /// The committee of one tenant. Cheap, no I/O. Tenants share no data; where the store also
    /// serves interface A, the [`Documents`] are those of that tenant.
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore>;
}

/// The committee of one tenant, the subjects, subject snapshots and regimes it goes by, and the log
/// that it shares with all else of the tenant.
pub trait CommitteeStore: Clock + Documents + Committee + Log {}

impl<T: Clock + Documents + Committee + Log> CommitteeStore for T {}

/// The part of the port that keeps the committee.
#[async_trait]
pub trait Committee: Send + Sync {
    /// All members, whatever their status, by id.
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>>;

    /// One member, whatever its status.
    async fn committee_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Option<Versioned<CommitteeMember>>>;

    /// Writes a member, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such member);
    /// - keep the index of key hashes equal to the records: a replaced key stops working with the
    ///   commit.
    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved>;

    /// One day.
    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>>;

    /// The days with a generation that match, the latest first.
    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery,
    ) -> Result<Vec<Versioned<CommitteeDay>>>;

    /// Writes a day, atomically.
    ///
    /// To ensure correctness:
    /// - commit nothing unless the stored version is `change.expected` (`None`: no such day);
    /// - `change.briefs`, where given, take the place of all the briefs of that day in the same
    ///   commit: no reader ever sees some of them, or old ones beside new ones. A store may then
    ///   forget the briefs of earlier days.
    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved>;

    /// The briefs of a day, by member id; or the one of this member, if there is one.
    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>>;

    /// All the facts that a submission is judged by, read together, in one round trip: the time,
    /// the member whose record carries this key hash, and the latest day with a generation.
    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis>;

    /// Files a submission, atomically and durably, in one round trip.
    ///
    /// To ensure correctness, check in this order and write nothing before the last check:
    /// 1. the member filed this very attempt on that day: answer what it was answered then,
    ///    [`CommitteeFiled::Filed`] (a client library may send a commit twice);
    /// 2. the versions of the member and of the day are those of the filing, or else
    ///    [`CommitteeFiled::Stale`];
    /// 3. the store's clock, read once and inside the commit's critical section (not while it waits
    ///    for its turn), is not past `commit_deadline`, or else [`CommitteeFiled::Late`];
    /// 4. the member's submissions of that day are fewer than [`CommitteeFiling::quota`], or else
    ///    [`CommitteeFiled::Full`];
    /// 5. then record [`CommitteeFiling::take`] with the time of 3, after all that the day has. The
    ///    versions of the member and of the day do not change.
    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled>;

    /// The submissions that match.
    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>,
    ) -> Result<Vec<Arc<CommitteeTake>>>;
}

/// Which sessions are asked for.
#[derive(Clone, Debug, Default)]
pub struct CommitteeSessionQuery {
    /// Only those whose latest generation is about this subject.
    pub subject: Option<SubjectId>,
    /// Only those of earlier days.
    pub before: Option<Day>,
    /// At most so many.
    pub limit: usize,
}

/// Which submissions are asked for.
#[derive(Clone, Copy, Debug)]
pub enum CommitteeTakesQuery<'a> {
    /// All of these days, in the order of the days as asked, then of their commits.
    On(&'a [Day]),
    /// The last that the member committed on each day about each subject, the latest day first,
    /// and of a day the latest commit.
    Latest {
        /// The member.
        member: &'a CommitteeMemberId,
        /// Only those of days before this one.
        before: Day,
        /// At most so many.
        limit: usize,
    },
}

/// What became of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum CommitteeFiled {
    /// It is committed: this is the record on file.
    Filed(Arc<CommitteeTake>),
    /// The member or the day has changed since: load and judge again.
    Stale,
    /// The deadline passed before the commit.
    Late,
    /// The member has submitted as often as it may that day.
    Full,
}
