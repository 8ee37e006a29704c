//! Convening, reading and changing sessions, and the background work on them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::retries::until_committed;
use super::{Commit, Error, Round, Tenant};
use crate::domain::{
    Attribution, Day, MemberId, MemberState, OutcomeDraft, Quote, Roster, Session, SessionDraft,
    SessionId, SessionPatch, SessionState, SessionSummary, StanceScale, StoredTake, SubjectId,
    TakeId, Timestamp,
};
use crate::rules::{self, PublicTake, Refusal, Resource};
use crate::store::{
    Aggregation, MemberQuery, Records, Saved, SessionAuthors, SessionChange, SessionList,
    SessionQuery, SessionTakes, SummaryQuery, TakeQuery, Versioned,
};

/// Maximum number of sessions that are listed of those that accept takes.
pub const MAX_ACCEPTING: usize = 100;

/// The states in which a first take counts, while the deadline is ahead.
pub(super) const BEFORE_RESULT: [SessionState; 3] =
    [SessionState::Scheduled, SessionState::Collecting, SessionState::WindowClosed];

/// Number of summaries read at a time, and altogether, to find all sessions in a state or about a subject.
const LISTED_AT_ONCE: usize = 500;
const MAX_LISTED: usize = 10_000;

/// Number of sessions on each side of one, by id, among which its neighbours by day are.
const CONVENED_NEAR: usize = 8;

/// Number of sessions that are read at a time by their ids or days.
const READ_AT_ONCE: usize = 16;

/// Size in bytes at which a page of the session list ends early.
const PAGE_BYTES: usize = 4 << 20;

/// Number of sessions read with their snapshots at a time.
const SESSIONS_AT_ONCE: usize = 8;

/// Number of summaries read at a time to find those that a filter keeps: at least, and at most.
const SCANNED_AT_ONCE: (usize, usize) = (20, 100);

/// Maximum number of such reads for one page.
const MAX_SCANS: usize = 10;

/// Number of sessions read at a time to find the blind ones.
const BLIND_SCANNED_AT_ONCE: usize = 100;

/// A session, and a page of the takes that count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakePage {
    /// The session.
    pub session: Arc<Session>,
    /// The highest revision of each member, in the order of filing.
    pub takes: Vec<PublicTake>,
    /// The cursor of the next page; `None` on the last page.
    pub next_after: Option<TakeId>,
}

/// A page of the session list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPage {
    /// Sessions by id in descending order.
    pub sessions: Vec<Arc<Session>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

/// A page of summaries of sessions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SummaryPage {
    /// Summaries of sessions by id in descending order.
    pub sessions: Vec<Arc<SessionSummary>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

/// The blind sessions of a tenant that may need work. Whether a session is blind never changes, so each session
/// is read once, and a round reads no session that is not blind.
#[derive(Clone, Debug, Default)]
pub struct BlindSessions {
    /// The number of the log in which they were found. In a new log, the same ids may be other sessions.
    log: u64,
    /// All sessions up to this one were examined.
    seen: Option<SessionId>,
    /// The sessions that are sealed, or that may have held memos without log entries.
    unsettled: BTreeSet<SessionId>,
}

/// Convening a session, and reading one.
impl Tenant {
    /// Convenes a session (API.md, 7.3).
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject; [`Refusal::InvalidRequest`] when its day is none of the calendar, its roster
    /// lists somebody who is no member, or when it is for practice and takes meant for another session would go to it.
    pub async fn convene(
        &self,
        draft: &SessionDraft,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        self.check_draft(draft).await?;
        let convocation = rules::convene(draft, by);
        let convened =
            |store: Records| async move { Ok((store.convene(&convocation).await?, convocation)) };
        let (session, _) = self
            .observer
            .commit(&self.store, convened, |(session, convocation)| {
                Some(Commit::convened(session, convocation))
            })
            .await?;
        Ok(session)
    }

    /// Checks a draft against what is stored.
    pub(super) async fn check_draft(&self, draft: &SessionDraft) -> Result<(), Error> {
        self.subject(&draft.subject_id).await?;
        self.check_roster(draft.roster.as_ref(), "roster").await?;
        draft.check().map_err(Refusal::InvalidRequest)?;
        if draft.practice {
            self.check_diverts_no_take(draft).await?;
        }
        Ok(())
    }

    /// Checks that a practice session does not divert takes from a session that counts.
    async fn check_diverts_no_take(&self, draft: &SessionDraft) -> Result<(), Error> {
        let newest = self.newest_on(draft.date, &draft.subject_id).await?;
        Ok(rules::may_practise(newest.as_deref(), self.store.now().await?)?)
    }

    /// Checks that a session does not open again while its takes would go to a practice session.
    async fn check_is_not_diverted(&self, reopened: &Session, now: Timestamp) -> Result<(), Error> {
        let newest = self.newest_on(reopened.date, &reopened.subject_id).await?;
        Ok(rules::may_reopen(reopened, newest.as_deref(), now)?)
    }

    /// The newest session of a day and subject, without its snapshot.
    async fn newest_on(
        &self,
        date: Day,
        subject: &SubjectId,
    ) -> Result<Option<Arc<Session>>, Error> {
        let on = Some((date, subject.clone()));
        let query =
            SessionQuery { on, limit: 1, without_snapshots: true, ..SessionQuery::default() };
        Ok(self.store.sessions(&query).await?.into_iter().next())
    }

    /// Returns a session and the takes that count: the highest revision of each member.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session(&self, id: SessionId) -> Result<(Arc<Session>, Vec<PublicTake>), Error> {
        let (session, takes) = self.session_takes(&TakeQuery::latest(id)).await?;
        let takes = shown(&rules::resolve(&takes));
        Ok((session, takes))
    }

    /// Returns a session and up to `limit` of the takes that count, with ids higher than `after`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no session with this id.
    pub async fn session_page(
        &self,
        id: SessionId,
        after: TakeId,
        limit: usize,
    ) -> Result<TakePage, Error> {
        // One more than the page holds shows whether there are more.
        let limit_and_one = limit.saturating_add(1);
        let query = TakeQuery { after, limit: limit_and_one, ..TakeQuery::latest(id) };
        let (session, mut takes) = self.session_takes(&query).await?;
        let is_last = takes.len() <= limit;
        takes.truncate(limit);
        let next_after = takes.last().filter(|_| !is_last).map(StoredTake::id);
        let takes = shown(&rules::resolve(&takes));
        Ok(TakePage { session, takes, next_after })
    }

    /// Returns the newest session of a day and subject, and the takes that count.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none.
    pub async fn session_on(
        &self,
        date: Day,
        subject: SubjectId,
    ) -> Result<(Arc<Session>, Vec<PublicTake>), Error> {
        let on = Some((date, subject));
        let on = SessionQuery { on, limit: 1, without_snapshots: true, ..SessionQuery::default() };
        let mut newest = self.newest(&on).await?;
        loop {
            let answer = self.session(newest).await;
            // If a newer session was convened meanwhile, or this one was withdrawn, read again.
            let was = std::mem::replace(&mut newest, self.newest(&on).await?);
            if was == newest {
                return answer;
            }
        }
    }

    async fn newest(&self, on: &SessionQuery) -> Result<SessionId, Error> {
        let newest = self.store.sessions(on).await?.into_iter().next();
        Ok(newest.ok_or(Refusal::NotFound(Resource::Session))?.id)
    }

    /// Returns a session and all takes filed in it, with all revisions, in the order of filing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session_filed(
        &self,
        id: SessionId,
    ) -> Result<(Arc<Session>, Vec<PublicTake>), Error> {
        let (session, takes) = self.session_takes(&TakeQuery::all(id)).await?;
        let takes = shown(&takes);
        Ok((session, takes))
    }

    /// A session and takes of it, at one position of the log.
    pub(super) async fn session_takes(
        &self,
        query: &TakeQuery,
    ) -> Result<(Arc<Session>, Vec<StoredTake>), Error> {
        let found = self.store.session_takes(query).await?;
        let SessionTakes { session, takes } = found.ok_or(Refusal::NotFound(Resource::Session))?;
        Ok((session.record, takes))
    }

    /// A session and the members that filed in it, at one position of the log.
    pub(super) async fn session_authors(
        &self,
        id: SessionId,
    ) -> Result<(Arc<Session>, HashSet<MemberId>), Error> {
        let found = self.store.session_authors(id).await?;
        let SessionAuthors { session, authors } =
            found.ok_or(Refusal::NotFound(Resource::Session))?;
        Ok((session.record, authors.into_iter().collect()))
    }

    /// Returns a session without its takes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session_record(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        Ok(self.load(id).await?.record)
    }

    pub(super) async fn load(&self, id: SessionId) -> Result<Versioned<Session>, Error> {
        Ok(self.store.session(id).await?.ok_or(Refusal::NotFound(Resource::Session))?)
    }

    /// A session without its snapshot.
    pub(super) async fn without_snapshot(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        let query = SessionQuery {
            before: Some(SessionId(id.0.saturating_add(1))),
            limit: 1,
            without_snapshots: true,
            ..SessionQuery::default()
        };
        let found = self.store.sessions(&query).await?.into_iter().next();
        Ok(found.filter(|found| found.id == id).ok_or(Refusal::NotFound(Resource::Session))?)
    }

    /// Returns the summary of a session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn summary(&self, id: SessionId) -> Result<Arc<SessionSummary>, Error> {
        let before = Some(SessionId(id.0.saturating_add(1)));
        let query = SummaryQuery { before, limit: 1, ..SummaryQuery::default() };
        let found = self.store.session_summaries(&query).await?.into_iter().next();
        Ok(found.filter(|found| found.id == id).ok_or(Refusal::NotFound(Resource::Session))?)
    }
}

/// Lists of sessions.
impl Tenant {
    /// Returns the `limit` newest sessions with ids below `before`. A page has fewer sessions if
    /// they exceed about 4 MiB, but at least one, if there is one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions(
        &self,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<SessionPage, Error> {
        // One more than the page holds shows whether there are more.
        let query = SessionQuery {
            before,
            limit: limit.saturating_add(1),
            without_snapshots: true,
            ..SessionQuery::default()
        };
        // One call, so all sessions are as of one position of the log. Snapshots can be read later, because they
        // never change.
        let listed = self.store.sessions(&query).await?;
        let (mut sessions, mut room): (Vec<Arc<Session>>, _) = (Vec::new(), Some(PAGE_BYTES));
        for some in listed.chunks(SESSIONS_AT_ONCE) {
            for session in self.with_snapshots(some).await? {
                room = room.and_then(|room| room.checked_sub(length(&session)));
                if sessions.len() == limit || (room.is_none() && !sessions.is_empty()) {
                    let next_before = sessions.last().map(|last| last.id);
                    return Ok(SessionPage { next_before, sessions });
                }
                sessions.push(session);
            }
        }
        Ok(SessionPage { next_before: None, sessions })
    }

    /// Successive sessions of the list, with their snapshots.
    async fn with_snapshots(&self, listed: &[Arc<Session>]) -> Result<Vec<Arc<Session>>, Error> {
        let is_aggregated = |session: &Session| session.state >= SessionState::Aggregated;
        let Some(first) = listed.iter().find(|session| is_aggregated(session)) else {
            return Ok(listed.to_vec());
        };
        let before = Some(SessionId(first.id.0.saturating_add(1)));
        let whole = SessionQuery { before, limit: listed.len(), ..SessionQuery::default() };
        let whole = self.store.sessions(&whole).await?;
        // A session that is missing now was withdrawn.
        let snapshot = |id| whole.iter().find(|it| it.id == id).map(|it| it.snapshot.clone());
        let with = |session: &Arc<Session>| match is_aggregated(session) {
            true => snapshot(session.id)
                .map(|snapshot| Arc::new(Session { snapshot, ..Session::clone(session) })),
            false => Some(Arc::clone(session)),
        };
        Ok(listed.iter().filter_map(with).collect())
    }

    /// Returns summaries of the `limit` newest sessions of a list with ids below `before`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn summaries(
        &self,
        list: SessionList,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<SummaryPage, Error> {
        // One more than the page holds shows whether there are more.
        let limit_and_one = limit.saturating_add(1);
        let query = SummaryQuery { list, before, after: None, limit: limit_and_one };
        let mut sessions = self.store.session_summaries(&query).await?;
        let is_last = sessions.len() <= limit;
        sessions.truncate(limit);
        let next_before = sessions.last().filter(|_| !is_last).map(|last| last.id);
        Ok(SummaryPage { sessions, next_before })
    }

    /// Returns summaries of up to `limit` of the newest sessions of a list with ids below `before` that `keep`
    /// keeps, by id in descending order. A page has fewer if they are not among the next 1,000 sessions of the
    /// list; [`SummaryPage::next_before`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn summaries_where(
        &self,
        list: SessionList,
        before: Option<SessionId>,
        limit: usize,
        keep: impl Fn(&SessionSummary) -> bool + Send,
    ) -> Result<SummaryPage, Error> {
        let (least, most) = SCANNED_AT_ONCE;
        let scanned = limit.saturating_mul(4).clamp(least, most);
        let mut query = SummaryQuery { list, before, after: None, limit: scanned };
        let mut sessions = Vec::new();
        for _ in 0..MAX_SCANS {
            let listed = self.store.session_summaries(&query).await?;
            for session in listed.iter().filter(|session| keep(session)) {
                if sessions.len() == limit {
                    return Ok(SummaryPage { next_before: query.before, sessions });
                }
                query.before = Some(session.id);
                sessions.push(Arc::clone(session));
            }
            query.before = listed.last().map(|last| last.id);
            if listed.len() < scanned {
                return Ok(SummaryPage { next_before: None, sessions });
            }
        }
        Ok(SummaryPage { next_before: query.before, sessions })
    }

    /// Returns the sessions of a page of summaries. A page has fewer sessions if they exceed about 4 MiB.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions_of(&self, page: &SummaryPage) -> Result<SessionPage, Error> {
        let (mut sessions, mut room): (Vec<Arc<Session>>, _) = (Vec::new(), Some(PAGE_BYTES));
        for summary in &page.sessions {
            // A session that is missing now was withdrawn.
            let Some(session) = self.store.session(summary.id).await? else { continue };
            room = room.and_then(|room| room.checked_sub(length(&session.record)));
            if room.is_none() && !sessions.is_empty() {
                let next_before = sessions.last().map(|last| last.id);
                return Ok(SessionPage { next_before, sessions });
            }
            sessions.push(session.record);
        }
        Ok(SessionPage { next_before: page.next_before, sessions })
    }

    /// Returns summaries of the `limit` sessions that were published last, of those that [count](Session::counts), the
    /// latest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>, Error> {
        Ok(self.store.published(limit).await?)
    }

    /// Returns the sessions of the same subject before and after this one by their day; of one day, by id. They are sought among the
    /// 8 that were convened before this one and the 8 after it. If those are out of order and there are more of them, none is
    /// returned: a nearer one may be among the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn neighbours(
        &self,
        session: &SessionSummary,
    ) -> Result<[Option<Arc<SessionSummary>>; 2], Error> {
        let list = SessionList::About(session.subject_id.clone());
        let near = SummaryQuery { list, limit: CONVENED_NEAR, ..SummaryQuery::default() };
        let before = SummaryQuery { before: Some(session.id), ..near.clone() };
        let after = SummaryQuery { after: Some(session.id), ..near };
        let before = self.store.session_summaries(&before).await?;
        let after = self.store.session_summaries(&after).await?;
        let place = |session: &SessionSummary| (session.date, session.id);
        let is_earlier = |other: &Arc<SessionSummary>| place(other) < place(session);
        let is_cut = |side: &[Arc<SessionSummary>]| side.len() == CONVENED_NEAR;
        let is_earlier_out_of_order = is_cut(&before) && !before.iter().all(is_earlier);
        let is_later_out_of_order = is_cut(&after) && after.iter().any(is_earlier);
        if is_earlier_out_of_order || is_later_out_of_order {
            return Ok([None, None]);
        }
        let (earlier, later): (Vec<_>, Vec<_>) =
            before.into_iter().chain(after).partition(is_earlier);
        Ok([
            earlier.into_iter().max_by_key(|other| place(other)),
            later.into_iter().min_by_key(|other| place(other)),
        ])
    }

    /// Returns the newest session in the state `collecting` that is not for practice, else the newest one that is, if any.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn open_session(&self) -> Result<Option<Arc<Session>>, Error> {
        let (state, mut practice) = (Some(SessionState::Collecting), None);
        let mut query = SessionQuery { state, limit: 1, ..SessionQuery::default() };
        for _ in 0..MAX_ACCEPTING {
            let Some(newest) = self.store.sessions(&query).await?.into_iter().next() else { break };
            if !newest.practice {
                return Ok(Some(newest));
            }
            query.before = Some(newest.id);
            practice.get_or_insert(newest);
        }
        Ok(practice)
    }

    /// Returns the `limit` newest sessions in which a first take would be accepted now, by id in
    /// descending order. Aggregated sessions are left out, because takes in them do not count.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accepting_sessions(&self, limit: usize) -> Result<Vec<Arc<Session>>, Error> {
        self.accepting(|session| Reverse(session.id), limit).await
    }

    /// The `limit` of them with the soonest deadlines; those without one come last.
    pub(super) async fn accepting_soonest(&self, limit: usize) -> Result<Vec<Arc<Session>>, Error> {
        self.accepting(SessionSummary::by_deadline, limit).await
    }

    /// The first `limit` in this order of the sessions in which a first take would be accepted now and would count: not aggregated, and not
    /// hidden by a newer one of their day and subject.
    async fn accepting<K: Ord>(
        &self,
        order: impl Fn(&SessionSummary) -> K,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Error> {
        let now = self.store.now().await?;
        let mut candidates = Vec::new();
        for state in BEFORE_RESULT {
            let accepts =
                |session: &SessionSummary| rules::takes_may_come(session.window_closes_at, now);
            candidates.extend(self.listed(SessionList::InState(state), accepts).await?);
        }
        candidates.sort_by_key(|session| order(session));
        // One that advances meanwhile is in two lists.
        let mut seen = HashSet::new();
        candidates.retain(|session| seen.insert(session.id));
        let newest = self.newest_of_their_days(candidates, limit).await?;
        self.whole(&newest).await
    }

    /// Returns the first `limit` of these sessions that are the [newest of their day](Self::newest_of_day) and subject.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn newest_of_their_days(
        &self,
        mut sessions: Vec<Arc<SessionSummary>>,
        limit: usize,
    ) -> Result<Vec<Arc<SessionSummary>>, Error> {
        let mut highest = HashMap::new();
        for session in &sessions {
            let id =
                highest.entry((session.date, session.subject_id.clone())).or_insert(session.id);
            *id = session.id.max(*id);
        }
        let is_highest = |it: &SessionSummary| {
            highest.get(&(it.date, it.subject_id.clone())).is_some_and(|id| *id == it.id)
        };
        sessions.retain(|session| is_highest(session));
        let mut newest = Vec::new();
        for some in sessions.chunks(READ_AT_ONCE) {
            let days = some.iter().map(|it| (it.date, it.subject_id.clone())).collect();
            let ids = self.store.newest_of_days(&filled(days)).await?;
            let found = some.iter().zip(ids).filter(|(it, newest)| *newest == Some(it.id));
            newest.extend(found.map(|(session, _)| Arc::clone(session)));
            if newest.len() >= limit {
                break;
            }
        }
        newest.truncate(limit);
        Ok(newest)
    }

    /// The sessions of these summaries, in their order, without those that were withdrawn meanwhile.
    async fn whole(&self, summaries: &[Arc<SessionSummary>]) -> Result<Vec<Arc<Session>>, Error> {
        let mut whole = Vec::with_capacity(summaries.len());
        for some in summaries.chunks(READ_AT_ONCE) {
            let ids = filled(some.iter().map(|session| session.id).collect());
            let sessions = self.store.sessions_by_id(&ids).await?;
            whole.extend(sessions.into_iter().take(some.len()).flatten());
        }
        Ok(whole)
    }

    /// The sessions to keep of the newest 10,000 of a list.
    pub(super) async fn listed(
        &self,
        list: SessionList,
        keep: impl Fn(&SessionSummary) -> bool,
    ) -> Result<Vec<Arc<SessionSummary>>, Error> {
        let (mut kept, mut before) = (Vec::new(), None);
        for _ in 0..MAX_LISTED / LISTED_AT_ONCE {
            let page = self.summaries(list.clone(), before, LISTED_AT_ONCE).await?;
            kept.extend(page.sessions.into_iter().filter(|session| keep(session)));
            before = page.next_before;
            if before.is_none() {
                break;
            }
        }
        Ok(kept)
    }

    /// Returns whether takes are on file in a session whose window is open.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn has_open_window_with_takes(&self) -> Result<bool, Error> {
        for session in self.accepting_sessions(MAX_ACCEPTING).await? {
            let one = TakeQuery { limit: 1, ..TakeQuery::all(session.id) };
            let found = self.store.session_takes(&one).await?;
            if found.is_some_and(|found| !found.takes.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the newest session of a day and subject, which is the only one of them that accepts takes.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn newest_of_day(
        &self,
        date: Day,
        subject: &SubjectId,
    ) -> Result<Option<SessionId>, Error> {
        let newest = self.store.newest_of_days(&[(date, subject.clone())]).await?;
        Ok(newest.into_iter().next().flatten())
    }
}

/// Changes of a session by operators.
impl Tenant {
    /// Moves a session to another state. Entering `aggregated` writes its snapshot, atomically with
    /// respect to concurrent takes.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::SessionIs`] when its state does not allow the transition;
    /// [`Refusal::TakesSealed`] when sealed takes would be opened before the deadline.
    pub async fn advance(
        &self,
        id: SessionId,
        to: SessionState,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        if to == SessionState::Aggregated {
            let aggregation = Aggregation { session: id, by: by.clone() };
            let aggregated = |store: Records| async move { store.aggregate(&aggregation).await };
            let by = by.by.clone();
            let mut session = self
                .observer
                .commit(&self.store, aggregated, |aggregated| {
                    aggregated.as_deref().ok().map(|session| Commit::aggregated(session, by))
                })
                .await??;
            if self.is_dry_run {
                session = rules::without_early_look(session);
            }
            self.show_what_was_held(&session).await;
            return Ok(session);
        }
        until_committed("advance", || async {
            let session = self.load(id).await?;
            let now = self.store.now().await?;
            self.saved(rules::advance(&session, to, now, by)?).await
        })
        .await
    }

    /// Changes a session's deadline or quorum. A window that has closed opens again when its deadline
    /// moves ahead or is cleared. A request that changes nothing is not logged, unless it has a note.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`] for the quorum; [`Refusal::AlreadyOpened`];
    /// [`Refusal::FiledLater`] when a stored take was filed after that deadline; [`Refusal::TakesSealed`] when there are
    /// sealed takes, unless the deadline is moved later; [`Refusal::InvalidRequest`] when the session would open again, and its
    /// takes would go to a practice session.
    pub async fn amend_session(
        &self,
        id: SessionId,
        patch: &SessionPatch,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        until_committed("amend session", || async {
            let judged = self.load(id).await?;
            let now = self.store.now().await?;
            let Some(change) = rules::amend(&judged, patch, now, by)? else {
                return Ok(Some(judged.record));
            };
            if rules::reopens(&judged.record, &change.session, now) {
                self.check_is_not_diverted(&change.session, now).await?;
            }
            self.saved_unless_refused(&judged, change).await
        })
        .await
    }

    /// Withdraws a session in which no take was filed, and returns its last record. From then on it
    /// is not found, and its id is not used again. Its brief goes with it; a memo that names it stays.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::TakesOnFile`]; [`Refusal::SessionIsVoid`].
    pub async fn withdraw_session(
        &self,
        id: SessionId,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        until_committed("withdraw session", || async {
            let judged = self.load(id).await?;
            self.saved_unless_refused(&judged, rules::withdraw(&judged, by)?).await
        })
        .await
    }

    /// Ends the window of a session: its deadline becomes the time of the commit, unless it has passed, and the session
    /// moves to `window_closed`.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::SessionIs`] when its state does not allow the transition;
    /// [`Refusal::TakesSealed`] when there are sealed takes and the deadline is ahead.
    pub async fn end_window(&self, id: SessionId, by: &Attribution) -> Result<Arc<Session>, Error> {
        until_committed("end window", || async {
            let judged = self.load(id).await?;
            let (_, takes) = self.session_takes(&TakeQuery::all(id)).await?;
            let last_filed_at = takes.iter().map(StoredTake::filed_at).max();
            let now = self.store.now().await?;
            let change = rules::end_window(&judged, last_filed_at, now, by)?;
            match change.takes {
                Some(_) => self.saved_unless_refused(&judged, change).await,
                // A take that was filed meanwhile is before the deadline of the next attempt.
                None => self.saved(change).await,
            }
        })
        .await
    }

    /// Voids an aggregated session, because of what the note of `by` says: it counts for nothing from then on. This is not
    /// undone.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::InvalidRequest`] without a note; [`Refusal::NotFound`]; [`Refusal::SessionIs`] before it is aggregated;
    /// [`Refusal::SessionIsPractice`]; [`Refusal::SessionIsVoid`].
    pub async fn void_session(
        &self,
        id: SessionId,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        until_committed("void session", || async {
            let judged = self.load(id).await?;
            let now = self.store.now().await?;
            self.saved(rules::void(&judged, now, by)?).await
        })
        .await
    }

    /// Records the outcome of a session, in place of an earlier one; the log keeps both.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::SessionIsPractice`]; [`Refusal::SessionIsVoid`]; [`Refusal::SessionIsOpen`];
    /// [`Refusal::SessionIs`] when it is not aggregated.
    pub async fn record_outcome(
        &self,
        id: SessionId,
        outcome: &OutcomeDraft,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        until_committed("record outcome", || async {
            let judged = self.load(id).await;
            if matches!(judged, Err(Error::Refused(_))) {
                // A value that no session without a declaration has is refused first.
                let scale = StanceScale::of_service();
                outcome.check(scale).map_err(Refusal::InvalidRequest)?;
            }
            let judged = judged?;
            let now = self.store.now().await?;
            self.saved(rules::record_outcome(&judged, outcome, now, by)?).await
        })
        .await
    }

    /// Sets a session's roster. It can be set only once.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`]; [`Refusal::RosterFrozen`] when it
    /// already has one; [`Refusal::InvalidRequest`] when the roster lists somebody who is no member;
    /// [`Refusal::TakesSealed`].
    pub async fn freeze_roster(
        &self,
        id: SessionId,
        roster: &Roster,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        self.load(id).await?;
        self.check_roster(Some(roster), "members").await?;
        self.change(id, |session| rules::freeze_roster(session, roster, by).map(Some)).await
    }

    /// Excuses a member on a session's roster, or expects it again. A request that changes nothing
    /// is not logged, unless it has a note.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for the session or the member; [`Refusal::AlreadyAggregated`];
    /// [`Refusal::NoRoster`]; [`Refusal::TakesSealed`].
    pub async fn excuse(
        &self,
        id: SessionId,
        member: &MemberId,
        excused: bool,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        self.change(id, |session| rules::excuse(session, member, excused, by)).await
    }

    /// Members are never removed once they are public, so this check still holds at the commit.
    pub(super) async fn check_roster(
        &self,
        roster: Option<&Roster>,
        field: &'static str,
    ) -> Result<(), Error> {
        let Some(roster) = roster else { return Ok(()) };
        let states = [MemberState::Approved, MemberState::Claimed, MemberState::Inactive];
        let ids = roster.entries().iter().map(|entry| entry.member_id.clone()).collect();
        let listed = MemberQuery { ids: Some(ids), ..MemberQuery::in_states(&states) };
        let members = self.store.members(&listed).await?;
        Ok(rules::check_roster(roster, &members, field)?)
    }

    async fn change(
        &self,
        id: SessionId,
        judge: impl Fn(&Versioned<Session>) -> Result<Option<SessionChange>, Refusal> + Send + Sync,
    ) -> Result<Arc<Session>, Error> {
        until_committed("change session", || async {
            let judged = self.load(id).await?;
            match judge(&judged)? {
                Some(change) => self.saved_unless_refused(&judged, change).await,
                None => Ok(Some(judged.record)),
            }
        })
        .await
    }

    /// Commits a change, which takes may block.
    async fn saved_unless_refused(
        &self,
        judged: &Versioned<Session>,
        change: SessionChange,
    ) -> Result<Option<Arc<Session>>, Error> {
        let refusal = change.refusal_of_takes();
        let saved = self.saved(change).await?;
        if saved.is_none()
            && let Some(refusal) = refusal
            && self.load(judged.record.id).await?.version == judged.version
        {
            // Nobody else has changed it, so a take blocked the write.
            return Err(refusal.into());
        }
        Ok(saved)
    }

    async fn saved(&self, change: SessionChange) -> Result<Option<Arc<Session>>, Error> {
        let commit =
            |store: Records| async move { Ok((store.save_session(&change).await?, change)) };
        let (saved, change) = self
            .observer
            .commit(&self.store, commit, |(saved, change)| {
                saved.committed(Commit::session(&change.session, &change.acts))
            })
            .await?;
        if saved == Saved::Saved && (change.opens || change.withdrawn) {
            self.show_what_was_held(&change.session).await;
        }
        Ok(saved.committed(change.session).map(Arc::new))
    }

    /// Appends the log entries of memos that were held while a blind session was sealed. The opening is committed
    /// already. If this fails, [`open_due_sessions`](Self::open_due_sessions) does it later.
    async fn show_what_was_held(&self, session: &Session) {
        if session.blind {
            let _ = self.show_held_memos(session.id).await;
        }
    }
}

/// Background work: closes sessions whose deadline has passed, and opens the blind ones among them (API.md, 5.8).
impl Tenant {
    /// Moves sessions that are [due](rules::is_due) after their deadline to `window_closed`, and opens the blind ones
    /// among them. Several servers may do this concurrently. [`Round::done`] is the number of sessions.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn close_due_sessions(&self) -> Result<Round, Error> {
        let in_state = |state| SessionQuery {
            state: Some(state),
            limit: usize::MAX,
            without_snapshots: true,
            ..SessionQuery::default()
        };
        let collecting = self.store.sessions(&in_state(SessionState::Collecting)).await?;
        let mut announced = self.store.sessions(&in_state(SessionState::Scheduled)).await?;
        // Operators open and close the others.
        announced.retain(|session| session.finish);
        let now = self.store.now().await?;
        let mut round = Round::default();
        for session in collecting.iter().chain(&announced) {
            self.close_if_due(session, now, &mut round).await?;
        }
        Ok(round)
    }

    /// Closes and opens a session that is due; otherwise records when it will be.
    pub(super) async fn close_if_due(
        &self,
        session: &Session,
        now: Timestamp,
        round: &mut Round,
    ) -> Result<(), Error> {
        if rules::takes_may_come(session.window_closes_at, now) {
            // It is due after its deadline.
            let deadline = session.window_closes_at.map(|deadline| deadline.plus_millis(1));
            round.wait_for(deadline, now);
            return Ok(());
        }
        // It may have been withdrawn meanwhile.
        let Some(session) = self.store.session(session.id).await? else { return Ok(()) };
        let Some(change) = rules::close_if_due(&session, now) else { return Ok(()) };
        match self.saved(change).await? {
            Some(_) => round.done += 1,
            // The session was changed concurrently; the next round judges it again.
            None => round.wait_for(Some(now), now),
        }
        Ok(())
    }

    /// Opens the blind sessions that were closed before their deadline, once it has passed. Also appends the log
    /// entries of memos that were held until an opening, if the server that opened the session failed to. `blind`
    /// keeps its state between rounds. Several servers may do this concurrently. [`Round::done`] is the number of
    /// sessions that were opened.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn open_due_sessions(&self, blind: &mut BlindSessions) -> Result<Round, Error> {
        self.find_blind_sessions(blind).await?;
        let now = self.store.now().await?;
        let mut round = Round::default();
        let mut settled = Vec::new();
        for id in &blind.unsettled {
            let found = self.store.session(*id).await?;
            match found.filter(|session| session.record.is_sealed()) {
                Some(session) if rules::is_sealed_and_closed(&session.record) => {
                    self.close_if_due(&session.record, now, &mut round).await?;
                }
                Some(_) => {}
                // The session was opened or withdrawn.
                None => settled.push(*id),
            }
        }
        for id in &settled {
            self.show_held_memos(*id).await?;
        }
        blind.unsettled.retain(|id| !settled.contains(id));
        Ok(round)
    }

    /// Adds the blind sessions that were convened since the last round.
    async fn find_blind_sessions(&self, blind: &mut BlindSessions) -> Result<(), Error> {
        let log = self.store.log_position().await?.log;
        if blind.log != log {
            *blind = BlindSessions { log, ..BlindSessions::default() };
        }
        // The first read is of the newest session only, to see whether sessions were added.
        let mut query = SessionQuery { limit: 1, without_snapshots: true, ..Default::default() };
        let mut newest = None;
        loop {
            let page = self.store.sessions(&query).await?;
            newest = newest.max(page.first().map(|session| session.id));
            let is_new = |id: SessionId| blind.seen.is_none_or(|seen| id > seen);
            let new = page.iter().filter(|session| is_new(session.id));
            let found = new.filter(|session| session.blind).map(|session| session.id);
            let found: Vec<_> = found.collect();
            let is_last = page.len() < query.limit;
            query.before = page.last().map(|session| session.id).filter(|id| is_new(*id));
            blind.unsettled.extend(found);
            if is_last || query.before.is_none() {
                break;
            }
            query.limit = BLIND_SCANNED_AT_ONCE;
        }
        blind.seen = blind.seen.max(newest);
        Ok(())
    }
}

/// Repeats the last item until the number of items is a power of two. A store on a server compiles a read for each number of
/// queries.
fn filled<T: Clone>(mut items: Vec<T>) -> Vec<T> {
    let length = items.len().next_power_of_two();
    let last = items.last().cloned();
    items.extend(last.into_iter().cycle().take(length.saturating_sub(items.len())));
    items
}

/// What the public sees of these takes.
fn shown(takes: &[StoredTake]) -> Vec<PublicTake> {
    takes.iter().map(PublicTake::of).collect()
}

/// The approximate size of a session in a list, in bytes, without its parts of constant size.
fn length(session: &Session) -> usize {
    /// The size of a quote without its texts.
    const QUOTE: usize = 150;
    const OTHER: usize = 65;
    let names = session.buckets.iter().flatten().map(|bucket| OTHER + bucket.as_str().len());
    let roster = session.roster.iter().map(|roster| OTHER * roster.entries().len());
    let snapshot = session.snapshot.as_deref();
    let quotes = snapshot.into_iter().flat_map(|snapshot| &snapshot.quotes);
    let text = |quote: &Quote| quote.body.as_ref().map_or(0, |body| body.as_str().len());
    let quotes = quotes.map(|quote| QUOTE + quote.stance.as_str().len() + text(quote));
    let weights = snapshot.and_then(|snapshot| snapshot.weights.as_deref()).unwrap_or_default();
    let weights = weights.iter().map(|entry| OTHER + entry.bucket.as_str().len());
    names.chain(roster).chain(quotes).chain(weights).sum()
}
