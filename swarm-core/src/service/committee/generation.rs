//! The generation of briefs.

use std::sync::Arc;
use std::time::Duration;

use super::{CommitteeError, CommitteeTenant};
use crate::answers::GeneratedBriefs;
use crate::domain::committee::{BriefRecentSession, CommitteeDay, CommitteeTake, GenerationOrder};
use crate::domain::json::Object;
use crate::domain::{
    Actor, Day, Invalid, Regime, Subject, SubjectId, SubjectSnapshot, SubjectSnapshotDraft,
    Timestamp,
};
use crate::rules::Caution;
use crate::rules::committee::{
    self as rules, BriefSource, CommitteeDayChange, KnownDay, MemberSource, NewBriefs,
};
use crate::service::retries::until_committed;
use crate::service::{documents, stored_document};
use crate::store::{Collection, CommitteeSessionQuery, CommitteeTakesQuery, Saved, StoreError};

/// The number of earlier sessions in a brief (API.md, 8.2).
const RECENT_SESSIONS: usize = 3;

/// The number of earlier takes of its member in a brief (API.md, 8.2).
const RECENT_TAKES: usize = 5;

impl CommitteeTenant {
    /// Generates today's briefs if they are due; `None` when they are not, or no member is active.
    /// Any number of servers may call this at any time: the briefs are generated once.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NoSubject`](rules::CommitteeRefusal::NoSubject) when no subject is set
    /// and none is active.
    pub async fn generate_if_due(&self) -> Result<Option<GeneratedBriefs>, CommitteeError> {
        until_committed("generate briefs", || async {
            let (now, day) = self.day_to_generate().await?;
            let takes = self.takes_that_matter(&day.record, now).await?;
            if !rules::is_due(&self.settings, now, &day.record, &takes) {
                return Ok(Some(None));
            }
            let members = self.member_sources(day.record.date).await?;
            if !rules::has_readers(&members) {
                return Ok(Some(None));
            }
            let order = rules::scheduled(&self.settings, now, &day.record);
            let change = self.compose(&order, &day, now, &members, &Actor::SCHEDULE).await?;
            Ok(self.commit(change).await?.map(Some))
        })
        .await
    }

    /// Returns the time until briefs may become due, if the committee does not change before.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn until_due(&self) -> Result<Duration, CommitteeError> {
        let (now, day) = self.day_to_generate().await?;
        let takes = self.takes_that_matter(&day.record, now).await?;
        Ok(rules::until_due(&self.settings, now, &day.record, &takes))
    }

    /// Generates today's briefs now, replacing existing ones. If the deadline of an earlier day's
    /// session has not passed, it generates the briefs of that day.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`CommitteeRefusal::NotFound`](rules::CommitteeRefusal::NotFound) when there is no such
    /// subject, [`CommitteeRefusal::NoSubject`](rules::CommitteeRefusal::NoSubject) when none is
    /// named and none is active, [`CommitteeRefusal::WindowClosed`](rules::CommitteeRefusal) for a
    /// later deadline of a session that is over and has takes.
    pub async fn generate(
        &self,
        order: &GenerationOrder,
        by: &Actor,
    ) -> Result<GeneratedBriefs, CommitteeError> {
        until_committed("generate briefs", || async {
            let (now, day) = self.day_to_generate().await?;
            let members = self.member_sources(day.record.date).await?;
            let change = self.compose(order, &day, now, &members, by).await?;
            self.commit(change).await
        })
        .await
    }

    /// Returns what should be heard before [`generate`](Self::generate).
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn generation_cautions(
        &self,
        order: &GenerationOrder,
    ) -> Result<Vec<Caution>, CommitteeError> {
        let (now, day) = self.day_to_generate().await?;
        Ok(Vec::from_iter(rules::new_deadline(&day.record, order.deadline, now)))
    }

    async fn commit(
        &self,
        change: CommitteeDayChange,
    ) -> Result<Option<GeneratedBriefs>, CommitteeError> {
        let (saved, day) = self.save_day(change).await?;
        let made = day.generation.as_ref().filter(|_| saved == Saved::Saved);
        Ok(made.map(|made| GeneratedBriefs {
            date: day.date,
            subject_id: made.subject_id.clone(),
            deadline_utc: made.deadline,
            briefs: made.briefs,
        }))
    }

    async fn day_to_generate(&self) -> Result<(Timestamp, KnownDay), CommitteeError> {
        let now = self.store.now().await?;
        let latest = self.latest().await?;
        let date = rules::day_to_generate(latest.as_deref(), now);
        let on_file = self.store.committee_day(date).await?;
        Ok((now, KnownDay::new(date, on_file)))
    }

    /// The submissions of a day; empty when they cannot change whether a generation is due.
    async fn takes_that_matter(
        &self,
        day: &CommitteeDay,
        now: Timestamp,
    ) -> Result<Vec<Arc<CommitteeTake>>, StoreError> {
        match rules::is_due(&self.settings, now, day, &[]) {
            true => self.submissions(day.date).await,
            false => Ok(Vec::new()),
        }
    }

    async fn compose(
        &self,
        order: &GenerationOrder,
        day: &KnownDay,
        now: Timestamp,
        members: &[MemberSource],
        by: &Actor,
    ) -> Result<CommitteeDayChange, CommitteeError> {
        let date = day.record.date;
        let subjects = self.all(Collection::Subjects, None, Subject::read).await?;
        let subject = rules::subject_for(order, &day.record, &subjects, now)?;
        let takes = self.submissions(date).await?;
        let deadline = rules::deadline(order, &self.settings, &day.record, &takes, now)?;
        let source = BriefSource {
            date,
            subject: subject.clone(),
            deadline,
            regimes: self.all(Collection::Regimes, None, Regime::read).await?,
            snapshots: self.snapshots(&subject.id).await?,
            recent_sessions: self.recent_sessions(&subject.id, date, now).await?,
        };
        let contents = rules::compose(source, members);
        let submissions = takes.len();
        let made =
            NewBriefs { subject_id: &subject.id, deadline, contents: &contents, submissions };
        Ok(rules::generate(order, day, &made, now, by))
    }

    /// The latest earlier sessions of a subject. A session that is still open, because its deadline
    /// was moved, shows no takes.
    async fn recent_sessions(
        &self,
        subject: &SubjectId,
        before: Day,
        now: Timestamp,
    ) -> Result<Vec<BriefRecentSession>, CommitteeError> {
        let query = CommitteeSessionQuery {
            subject: Some(subject.clone()),
            before: Some(before),
            limit: RECENT_SESSIONS,
        };
        let mut recent = Vec::new();
        for day in self.store.committee_sessions(&query).await? {
            let date = day.record.date;
            let takes = self.submissions(date).await?;
            let synthesis = rules::line(&day.record, &takes, now).and_then(|line| line.synthesis);
            recent.extend(synthesis.map(|synthesis| BriefRecentSession { date, synthesis }));
        }
        Ok(recent)
    }

    /// The active members, with their latest takes of earlier sessions.
    async fn member_sources(&self, before: Day) -> Result<Vec<MemberSource>, CommitteeError> {
        let mut sources = Vec::new();
        for member in self.store.committee_members().await? {
            let member = member.record;
            if !rules::has_briefs(&member) {
                continue;
            }
            let query =
                CommitteeTakesQuery::Latest { member: &member.id, before, limit: RECENT_TAKES };
            let recent_takes = self.counted(self.store.committee_takes(&query).await?).await?;
            sources.push(MemberSource { member, recent_takes });
        }
        Ok(sources)
    }

    /// Removes the takes of withdrawn generations. The takes of a day must be consecutive.
    async fn counted(
        &self,
        takes: Vec<Arc<CommitteeTake>>,
    ) -> Result<Vec<Arc<CommitteeTake>>, StoreError> {
        let mut counted = Vec::with_capacity(takes.len());
        for of_day in takes.chunk_by(|take, next| take.date == next.date) {
            let Some(first) = of_day.first() else { continue };
            let Some(day) = self.store.committee_day(first.date).await? else { continue };
            let Some(made) = &day.record.generation else { continue };
            if made.withdrawn == 0 {
                counted.extend_from_slice(of_day);
                continue;
            }
            let all = self.submissions(first.date).await?;
            let standing = rules::standing(made, &all);
            counted.extend(of_day.iter().filter(|take| standing.contains(take)).cloned());
        }
        Ok(counted)
    }

    async fn snapshots(&self, subject: &SubjectId) -> Result<Vec<SubjectSnapshot>, StoreError> {
        let group = Some(subject.as_str());
        let documents = self.store.documents(Collection::SubjectSnapshots, group).await?;
        let read = |document| {
            let draft = stored_document::read(document, SubjectSnapshotDraft::read)?;
            Ok(documents::snapshot(subject, draft, document))
        };
        documents.iter().map(read).collect()
    }

    async fn all<T>(
        &self,
        collection: Collection,
        group: Option<&str>,
        from: impl Fn(&mut Object) -> Result<T, Invalid> + Send + Sync,
    ) -> Result<Vec<T>, StoreError> {
        let documents = self.store.documents(collection, group).await?;
        documents.iter().map(|document| stored_document::read(document, &from)).collect()
    }
}
