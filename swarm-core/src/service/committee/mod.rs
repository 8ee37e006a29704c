//! The service of the daily committee (interface B), the API for embedders.

mod filing;
mod generation;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::answers::CommitteeReceipt;
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberDraft, CommitteeMemberId,
    CommitteeMemberPatch, CommitteeSettings, CommitteeStatus, CommitteeTake, Generation,
    SubjectOrder, SynthesisOrder,
};
use crate::domain::{Actor, AttemptId, Day, LogEntry, Quotas, TenantId, Timestamp};
use crate::proof::{ApiKey, Entropy, Zeros, commit_reference};
use crate::rules::committee::{
    self as rules, CommitteeFiling, CommitteeRefusal, CommitteeSession, KnownDay, SessionLine,
};
use crate::rules::{Quota, QuotaReached, Resource, Versioned};

use super::observer::{Observation, TenantObserver};
use super::retries::until_committed;
use super::{Commit, CommitTask, CommittedRecord, Error, Observer};
use crate::store::{
    self, Collection, CommitteeDayChange, CommitteeFiled, CommitteeMemberChange,
    CommitteeSessionQuery, CommitteeTakesQuery, Records, Saved, Store,
};

/// The number of days whose takes a list loads at a time, to bound its memory.
const DAYS_PER_BATCH: usize = 8;

/// The error of a call to the committee. For a submission that could not be stored, the response
/// says `failed to persist submission`.
pub type CommitteeError = Error<CommitteeRefusal>;

impl From<CommitteeRefusal> for CommitteeError {
    fn from(refusal: CommitteeRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The committees of all tenants, served by one store.
#[derive(Clone)]
pub struct Committees {
    store: Store,
    entropy: Arc<dyn Entropy>,
    observer: Option<Observation>,
}

impl Committees {
    /// A service on this store, with this source of randomness.
    pub fn new(store: impl Into<Store>, entropy: impl Entropy + 'static) -> Self {
        Self { store: store.into(), entropy: Arc::new(entropy), observer: None }
    }

    /// Adds an observer, which is called after each commit; `spawn` runs its tasks: see
    /// [`Swarm::observed_by`](crate::Swarm::observed_by).
    #[must_use]
    pub fn observed_by(
        self,
        observer: impl Observer + 'static,
        spawn: impl Fn(CommitTask) + Send + Sync + 'static,
    ) -> Self {
        Self { observer: Some(Observation::new(observer, spawn)), ..self }
    }

    /// Returns the committee of one tenant, with its settings. It is cheap and does no I/O.
    pub fn tenant(&self, tenant: &TenantId, settings: CommitteeSettings) -> CommitteeTenant {
        CommitteeTenant {
            store: self.store.open(tenant),
            entropy: Arc::clone(&self.entropy),
            settings: Arc::new(settings),
            quotas: Quotas::default(),
            observer: TenantObserver::new(tenant, self.observer.as_ref()),
        }
    }
}

impl fmt::Debug for Committees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observed = self.observer.is_some();
        f.debug_struct("Committees").field("observed", &observed).finish_non_exhaustive()
    }
}

/// The committee of one tenant: its members, days, briefs and takes.
#[derive(Clone)]
pub struct CommitteeTenant {
    store: Records,
    entropy: Arc<dyn Entropy>,
    settings: Arc<CommitteeSettings>,
    quotas: Quotas,
    observer: TenantObserver,
}

impl CommitteeTenant {
    /// Sets the quotas.
    #[must_use]
    pub fn with_quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    /// A handle for dry runs of operators' changes: see [`Tenant::dry_run`](crate::Tenant::dry_run).
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            store: self.store.dry_run(),
            entropy: Arc::new(Zeros),
            observer: self.observer.silent(),
            ..self.clone()
        }
    }

    /// Returns the id of the tenant.
    pub fn id(&self) -> &TenantId {
        self.observer.tenant()
    }

    /// Returns the settings of the committee.
    pub fn settings(&self) -> &CommitteeSettings {
        &self.settings
    }

    /// Returns the time by the store's clock.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn now(&self) -> Result<Timestamp, CommitteeError> {
        Ok(self.store.now().await?)
    }
}

/// The members of the committee and their keys.
impl CommitteeTenant {
    /// Creates an active member and returns its key, which is not stored (API.md, 8.8).
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future), and the
    /// secret that it would have returned is lost.
    ///
    /// # Errors
    /// [`CommitteeRefusal::MemberExists`].
    pub async fn create_member(
        &self,
        draft: &CommitteeMemberDraft,
        by: &Actor,
    ) -> Result<ApiKey, CommitteeError> {
        let (random, now) = (self.entropy.bytes()?, self.store.now().await?);
        let prefix = self.settings.key_prefix();
        let (change, key) = rules::create_member(draft, prefix, random, now, by);
        match self.save_member(change).await? {
            Saved::Saved => Ok(key),
            Saved::Stale => Err(CommitteeRefusal::MemberExists(draft.id.clone()).into()),
        }
    }

    /// Replaces the key of a member. The old key stops working with the commit.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future), and the
    /// secret that it would have returned is lost.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such member.
    pub async fn rotate_member_key(
        &self,
        id: &CommitteeMemberId,
        by: &Actor,
    ) -> Result<ApiKey, CommitteeError> {
        until_committed("rotate committee key", || async {
            let (random, member) = (self.entropy.bytes()?, self.load_member(id).await?);
            let (change, key) =
                rules::rotate_member_key(&member, self.settings.key_prefix(), random, by);
            Ok(self.save_member(change).await?.committed(key))
        })
        .await
    }

    /// Sets whether a member may submit. Its key does not change. An inactive member has no brief.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such member.
    pub async fn set_member_status(
        &self,
        id: &CommitteeMemberId,
        status: CommitteeStatus,
        by: &Actor,
    ) -> Result<(), CommitteeError> {
        until_committed("set committee status", || async {
            let change = rules::set_status(&self.load_member(id).await?, status, by);
            Ok(self.save_member(change).await?.committed(()))
        })
        .await
    }

    /// Changes what is known of a member. Its key and its status do not change. Briefs that are generated stay as they are.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such member.
    pub async fn update_member(
        &self,
        id: &CommitteeMemberId,
        patch: &CommitteeMemberPatch,
        by: &Actor,
    ) -> Result<Arc<CommitteeMember>, CommitteeError> {
        until_committed("update committee member", || async {
            let change = rules::update_member(&self.load_member(id).await?, patch, by);
            let member = Arc::new(change.member.clone());
            Ok(self.save_member(change).await?.committed(member))
        })
        .await
    }

    /// Returns all members, of either status, by id.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn members(&self) -> Result<Vec<Arc<CommitteeMember>>, CommitteeError> {
        let members = self.store.committee_members().await?;
        Ok(members.into_iter().map(|member| member.record).collect())
    }

    async fn save_member(&self, change: CommitteeMemberChange) -> store::Result<Saved> {
        let commit = |store: Records| async move {
            Ok((store.save_committee_member(&change).await?, change))
        };
        let (saved, _) = self
            .observer
            .commit(&self.store, commit, |(saved, change)| {
                saved.committed(Commit::committee_member(change))
            })
            .await?;
        Ok(saved)
    }

    async fn load_member(
        &self,
        id: &CommitteeMemberId,
    ) -> Result<Versioned<CommitteeMember>, CommitteeError> {
        let member = self.store.committee_member(id).await?;
        Ok(member.ok_or(CommitteeRefusal::NotFound(Resource::Member))?)
    }
}

/// Submissions.
impl CommitteeTenant {
    /// Files a submission: `key` is the API key, `body` the unparsed submission. It is committed
    /// when this returns the receipt. Front ends refuse a request without a key of the right form
    /// with [`CommitteeRefusal::MissingKey`].
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeError::Refused`] with the first check that fails, in the order of API.md, 8.5;
    /// the other variants when the outcome is unknown.
    pub async fn submit(
        &self,
        key: &ApiKey,
        body: &[u8],
    ) -> Result<CommitteeReceipt, CommitteeError> {
        let (hash, prefix) = (key.hash(), self.settings.key_prefix());
        let attempt = AttemptId(self.entropy.bytes()?);
        until_committed("file committee take", || async {
            let basis = self.store.committee_basis(&hash).await?;
            let filing = rules::judge(&basis, prefix, key, body, attempt)?;
            let filing = filing.with_quota(self.quotas.committee_submissions_per_day);
            let deadline = filing.commit_deadline();
            match self.file(filing).await? {
                CommitteeFiled::Filed(take) => Ok(Some(receipt(&take))),
                CommitteeFiled::Late => Err(CommitteeRefusal::WindowClosed.into()),
                CommitteeFiled::Full => {
                    let quota = Quota::CommitteeSubmissionsPerDay;
                    let reached = QuotaReached::session(quota, basis.now, deadline);
                    Err(CommitteeRefusal::QuotaReached(reached).into())
                }
                CommitteeFiled::Stale => Ok(None),
            }
        })
        .await
    }

    async fn file(&self, filing: CommitteeFiling) -> store::Result<CommitteeFiled> {
        let commit = |store: Records| async move { store.file_committee(&filing).await };
        let filed = self.observer.commit(&self.store, commit, |filed| match filed {
            CommitteeFiled::Filed(take) => Some(Commit::committee_take(take)),
            _ => None,
        });
        filed.await
    }
}

/// Reading briefs and sessions.
impl CommitteeTenant {
    /// Returns the current brief of a member. Its text depends on the host of the request:
    /// [`CommitteeBrief::text`].
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is none.
    pub async fn brief(
        &self,
        member: &CommitteeMemberId,
    ) -> Result<Arc<CommitteeBrief>, CommitteeError> {
        let brief = self.todays(Some(member)).await?.pop();
        let reader = self.store.committee_member(member).await?;
        let brief = brief.filter(|_| reader.is_some_and(|it| rules::has_briefs(&it.record)));
        Ok(brief.ok_or(CommitteeRefusal::NotFound(Resource::Brief))?)
    }

    /// Returns all current briefs, by member id.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn briefs(&self) -> Result<Vec<Arc<CommitteeBrief>>, CommitteeError> {
        let mut briefs = self.todays(None).await?;
        let readers = self.readers().await?;
        briefs.retain(|brief| readers.binary_search(&brief.member_id).is_ok());
        Ok(briefs)
    }

    /// Returns the members that may read briefs, by id. When they change, cached briefs are out of date.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn readers(&self) -> Result<Vec<CommitteeMemberId>, CommitteeError> {
        let members = self.store.committee_members().await?.into_iter();
        let readers = members.filter(|member| rules::has_briefs(&member.record));
        Ok(readers.map(|member| member.record.id.clone()).collect())
    }

    /// Returns the generation of the current briefs, and how long they stay current. When the
    /// generation changes, cached briefs are out of date.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn generation(&self) -> Result<Option<(Generation, Duration)>, CommitteeError> {
        let (now, day) = self.today().await?;
        Ok(day.and_then(|day| Some((day.generation.clone()?, rules::stays_current(&day, now)))))
    }

    async fn todays(
        &self,
        member: Option<&CommitteeMemberId>,
    ) -> Result<Vec<Arc<CommitteeBrief>>, CommitteeError> {
        match self.today().await?.1 {
            Some(day) => Ok(self.store.committee_briefs(day.date, member).await?),
            None => Ok(Vec::new()),
        }
    }

    /// The time, and the day whose briefs are current.
    async fn today(&self) -> Result<(Timestamp, Option<Arc<CommitteeDay>>), CommitteeError> {
        let now = self.store.now().await?;
        Ok((now, self.latest().await?.filter(|day| rules::is_current(day, now))))
    }

    /// The day of the latest session.
    async fn latest(&self) -> Result<Option<Arc<CommitteeDay>>, CommitteeError> {
        let latest = CommitteeSessionQuery { limit: 1, ..CommitteeSessionQuery::default() };
        let latest = self.store.committee_sessions(&latest).await?.pop();
        Ok(latest.map(|day| day.record))
    }

    /// Returns the `limit` latest sessions before the day `before`, latest first.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn sessions(
        &self,
        before: Option<Day>,
        limit: usize,
    ) -> Result<Vec<SessionLine>, CommitteeError> {
        let query = CommitteeSessionQuery { subject: None, before, limit };
        let now = self.store.now().await?;
        let days = self.store.committee_sessions(&query).await?;
        let mut lines = Vec::with_capacity(days.len());
        for days in days.chunks(DAYS_PER_BATCH) {
            let dates: Vec<_> = days.iter().map(|day| day.record.date).collect();
            let takes = self.store.committee_takes(&CommitteeTakesQuery::On(&dates)).await?;
            let line = |day: &CommitteeDay| {
                let of_day = takes.partition_point(|take| take.date > day.date);
                let of_day = takes.iter().skip(of_day).take_while(|take| take.date == day.date);
                rules::line(day, &of_day.cloned().collect::<Vec<_>>(), now)
            };
            lines.extend(days.iter().filter_map(|day| line(&day.record)));
        }
        Ok(lines)
    }

    /// Returns the session of a day.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
    pub async fn session(&self, date: Day) -> Result<CommitteeSession, CommitteeError> {
        // Read the time first: if the deadline has passed by then, the takes read afterwards are
        // complete.
        let now = self.store.now().await?;
        let day = self.store.committee_day(date).await?;
        let takes = self.submissions(date).await?;
        let session = day.and_then(|day| rules::session(&day.record, &takes, now));
        Ok(session.ok_or(CommitteeRefusal::NotFound(Resource::Session))?)
    }

    /// All submissions of a day, in the order of their commits.
    async fn submissions(&self, date: Day) -> store::Result<Vec<Arc<CommitteeTake>>> {
        self.store.committee_takes(&CommitteeTakesQuery::On(&[date])).await
    }
}

/// Changes of a day by operators.
impl CommitteeTenant {
    /// Sets the subject of a day, for the next generation of that day's briefs.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when there is no such subject.
    pub async fn set_subject(
        &self,
        order: &SubjectOrder,
        by: &Actor,
    ) -> Result<(), CommitteeError> {
        let subject = order.subject_id.as_str();
        let subject = self.store.document(Collection::Subjects, subject).await?;
        subject.ok_or(CommitteeRefusal::NotFound(Resource::Subject))?;
        until_committed("set committee subject", || async {
            let day = self.store.committee_day(order.date).await?;
            let day = KnownDay::new(order.date, day);
            let change = rules::set_subject(&day, &order.subject_id, by);
            Ok(self.save_day(change).await?.0.committed(()))
        })
        .await
    }

    /// Sets the synthesis of a session.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
    pub async fn set_synthesis(
        &self,
        order: &SynthesisOrder,
        by: &Actor,
    ) -> Result<(), CommitteeError> {
        until_committed("set committee synthesis", || async {
            let day = self.store.committee_day(order.date).await?;
            let day = KnownDay::new(order.date, day);
            let change = rules::set_synthesis(&day, &order.synthesis, by)?;
            Ok(self.save_day(change).await?.0.committed(()))
        })
        .await
    }

    /// Withdraws a day that was generated by mistake, for example because of a wrong clock. Its
    /// submissions stay stored, and the log records the withdrawal.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
    pub async fn withdraw(&self, date: Day, by: &Actor) -> Result<(), CommitteeError> {
        until_committed("withdraw committee day", || async {
            let day = KnownDay::new(date, self.store.committee_day(date).await?);
            let change = rules::withdraw(&day, by)?;
            Ok(self.save_day(change).await?.0.committed(()))
        })
        .await
    }

    async fn save_day(&self, change: CommitteeDayChange) -> store::Result<(Saved, CommitteeDay)> {
        let commit =
            |store: Records| async move { Ok((store.save_committee_day(&change).await?, change)) };
        let (saved, change) = self
            .observer
            .commit(&self.store, commit, |(saved, change)| {
                saved.committed(Commit::committee_day(change))
            })
            .await?;
        Ok((saved, change.day))
    }
}

fn receipt(take: &CommitteeTake) -> CommitteeReceipt {
    CommitteeReceipt {
        member_id: take.member_id.clone(),
        date: take.date,
        subject_id: take.subject_id.clone(),
        commit: commit_reference(take),
        received_at: take.received_at,
    }
}

impl fmt::Debug for CommitteeTenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommitteeTenant").field("id", self.id()).finish_non_exhaustive()
    }
}

impl<'a> Commit<'a> {
    fn committee_take(take: &'a CommitteeTake) -> Self {
        Self::filed(CommittedRecord::CommitteeTake(take), LogEntry::COMMITTEE_TAKE_FILED)
    }

    fn committee_day(change: &'a CommitteeDayChange) -> Self {
        let entry = change.act.known().map(|entry| &**entry);
        Self::logged(CommittedRecord::CommitteeDay(&change.day), entry)
    }

    fn committee_member(change: &'a CommitteeMemberChange) -> Self {
        let CommitteeMemberChange { member, operator_act, .. } = change;
        Self::acted(CommittedRecord::CommitteeMember(member), None, operator_act.as_ref())
    }
}
