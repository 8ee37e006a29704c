//! Reading briefs and sessions of the committee, and changes of its days.

use std::sync::Arc;
use std::time::Duration;

use super::{CommitteeError, CommitteeTenant};
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMemberId, CommitteeTake, Generation, SubjectOrder,
    SynthesisOrder,
};
use crate::domain::{Actor, Day, Timestamp};
use crate::rules::Resource;
use crate::rules::committee::{
    self as rules, CommitteeRefusal, CommitteeSession, KnownDay, SessionLine,
};
use crate::service::Commit;
use crate::service::retries::until_committed;
use crate::store::{
    self, Collection, CommitteeDayChange, CommitteeSessionQuery, CommitteeTakesQuery, Saved,
};

/// The number of days whose takes a list loads at a time, to bound its memory.
const DAYS_PER_BATCH: usize = 8;

impl CommitteeTenant {
    /// The current brief of a member. Its text depends on the host of the request:
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

    /// All current briefs, by member id.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn briefs(&self) -> Result<Vec<Arc<CommitteeBrief>>, CommitteeError> {
        let mut briefs = self.todays(None).await?;
        let readers = self.readers().await?;
        briefs.retain(|brief| readers.binary_search(&brief.member_id).is_ok());
        Ok(briefs)
    }

    /// The members that may read briefs, by id. When they change, cached briefs are out of date.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn readers(&self) -> Result<Vec<CommitteeMemberId>, CommitteeError> {
        let members = self.store.committee_members().await?.into_iter();
        let readers = members.filter(|member| rules::has_briefs(&member.record));
        Ok(readers.map(|member| member.record.id.clone()).collect())
    }

    /// The generation of the current briefs, and how long they stay current. When the generation
    /// changes, cached briefs are out of date.
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
    pub(super) async fn latest(&self) -> Result<Option<Arc<CommitteeDay>>, CommitteeError> {
        let latest = CommitteeSessionQuery { limit: 1, ..CommitteeSessionQuery::default() };
        let latest = self.store.committee_sessions(&latest).await?.pop();
        Ok(latest.map(|day| day.record))
    }

    /// The `limit` latest sessions before the day `before`, latest first.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn sessions(
        &self,
        limit: usize,
        before: Option<Day>,
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

    /// The session of a day.
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
    pub(super) async fn submissions(&self, date: Day) -> store::Result<Vec<Arc<CommitteeTake>>> {
        self.store.committee_takes(&CommitteeTakesQuery::On(&[date])).await
    }

    /// Sets the subject of a day, for the next generation of that day's briefs.
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
            Ok(self.save_day(&change).await?.committed(()))
        })
        .await
    }

    /// Sets the synthesis of a session.
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
            Ok(self.save_day(&change).await?.committed(()))
        })
        .await
    }

    /// Withdraws a day that was generated by mistake, for example because of a wrong clock. Its
    /// submissions stay stored, and the log records the withdrawal.
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
    pub async fn withdraw(&self, date: Day, by: &Actor) -> Result<(), CommitteeError> {
        until_committed("withdraw committee day", || async {
            let day = KnownDay::new(date, self.store.committee_day(date).await?);
            let change = rules::withdraw(&day, by)?;
            Ok(self.save_day(&change).await?.committed(()))
        })
        .await
    }

    pub(super) async fn save_day(&self, change: &CommitteeDayChange) -> store::Result<Saved> {
        let saved = self.store.save_committee_day(change).await?;
        if saved == Saved::Saved {
            self.observer.tell(Commit::CommitteeDay(&change.day));
        }
        Ok(saved)
    }
}
