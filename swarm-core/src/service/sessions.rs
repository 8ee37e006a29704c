//! Convening, changing and reading sessions.

use std::cmp::Reverse;
use std::sync::Arc;

use super::retries::until_committed;
use super::{Commit, Error, Round, Tenant};
use crate::domain::{
    Attribution, Day, MemberId, MemberState, Roster, Session, SessionDraft, SessionId,
    SessionPatch, SessionState, SubjectId, Take, TakeId, Timestamp,
};
use crate::rules::{self, PublicTake, Refusal, Resource, public_take};
use crate::store::{
    Aggregation, MemberQuery, Saved, SessionChange, SessionQuery, SessionTakes, TakeQuery,
    Versioned,
};

/// Maximum number of sessions in one state that are searched for those that accept takes.
pub const MAX_ACCEPTING: usize = 100;

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

impl Tenant {
    /// Convenes a session (API.md, 7.3).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject; [`Refusal::InvalidRequest`] when its roster
    /// lists somebody who is no member.
    pub async fn convene(
        &self,
        draft: &SessionDraft,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        self.subject(&draft.subject_id).await?;
        self.check_roster(draft.roster.as_ref(), "roster").await?;
        let session = self.store.convene(&rules::convene(draft, by)).await?;
        self.observer.tell(Commit::Session(&session));
        Ok(session)
    }

    /// A session and the takes that count: the highest revision of each member.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session(&self, id: SessionId) -> Result<(Arc<Session>, Vec<PublicTake>), Error> {
        let (session, takes) = self.session_takes(&TakeQuery::latest(id)).await?;
        let takes = shown(&session, &rules::resolve(&takes));
        Ok((session, takes))
    }

    /// A session and up to `limit` of the takes that count, with ids higher than `after`.
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
        let next_after = takes.last().filter(|_| !is_last).map(|last| last.id);
        let takes = shown(&session, &rules::resolve(&takes));
        Ok(TakePage { session, takes, next_after })
    }

    /// The newest session of a day and subject, and the takes that count.
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

    /// A session and takes of it, at one position of the log.
    pub(super) async fn session_takes(
        &self,
        query: &TakeQuery,
    ) -> Result<(Arc<Session>, Vec<Arc<Take>>), Error> {
        let found = self.store.session_takes(query).await?;
        let SessionTakes { session, takes } = found.ok_or(Refusal::NotFound(Resource::Session))?;
        Ok((session.record, takes))
    }

    /// A session and all takes filed in it, with all revisions, in the order of filing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session_filed(
        &self,
        id: SessionId,
    ) -> Result<(Arc<Session>, Vec<PublicTake>), Error> {
        let (session, takes) = self.session_takes(&TakeQuery::all(id)).await?;
        let takes = shown(&session, &takes);
        Ok((session, takes))
    }

    /// The newest session in the state `collecting`, if any.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn open_session(&self) -> Result<Option<Arc<Session>>, Error> {
        let state = Some(SessionState::Collecting);
        let newest = SessionQuery { state, limit: 1, ..SessionQuery::default() };
        Ok(self.store.sessions(&newest).await?.into_iter().next())
    }

    /// The `limit` newest sessions in which a first take would be accepted now, by id in descending order.
    /// Aggregated sessions are left out, because takes in them do not count.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accepting_sessions(&self, limit: usize) -> Result<Vec<Arc<Session>>, Error> {
        use SessionState::{Collecting, Scheduled, WindowClosed};
        let now = self.store.now().await?;
        let mut candidates = Vec::new();
        for state in [Scheduled, Collecting, WindowClosed] {
            let query =
                SessionQuery { state: Some(state), limit: MAX_ACCEPTING, ..Default::default() };
            candidates.extend(self.store.sessions(&query).await?);
        }
        candidates.retain(|session| rules::takes_may_come(session.window_closes_at, now));
        candidates.sort_unstable_by_key(|session| Reverse(session.id));
        let mut accepting = Vec::new();
        for session in candidates {
            if accepting.len() == limit {
                break;
            }
            if self.is_newest_of_its_day(&session).await? {
                accepting.push(session);
            }
        }
        Ok(accepting)
    }

    /// Whether it is the newest session of its day and subject. Only that one gets takes.
    async fn is_newest_of_its_day(&self, session: &Session) -> Result<bool, Error> {
        let on = Some((session.date, session.subject_id.clone()));
        let query =
            SessionQuery { on, limit: 1, without_snapshots: true, ..SessionQuery::default() };
        let newest = self.store.sessions(&query).await?;
        Ok(newest.first().is_some_and(|newest| newest.id == session.id))
    }

    /// Moves a session to another state. Entering `aggregated` writes its snapshot, atomically with
    /// respect to concurrent takes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::SessionIs`] when its state does not allow the transition.
    pub async fn advance(
        &self,
        id: SessionId,
        to: SessionState,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        if to == SessionState::Aggregated {
            let aggregation = Aggregation { session: id, by: by.clone() };
            let session = self.store.aggregate(&aggregation).await??;
            self.observer.tell(Commit::Session(&session));
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
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`] for the quorum; [`Refusal::AlreadyOpened`];
    /// [`Refusal::FiledLater`] when a stored take was filed after that deadline.
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
            let amended = self.saved(change).await?;
            if amended.is_none() && self.load(id).await?.version == judged.version {
                // Nobody else has changed it, so a take blocked the write.
                return Err(Refusal::FiledLater.into());
            }
            Ok(amended)
        })
        .await
    }

    /// Withdraws a session in which no take was filed, and returns its last record. From then on it
    /// is not found, and its id is not used again. Its brief goes with it; a memo that names it stays.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::TakesOnFile`].
    pub async fn withdraw_session(
        &self,
        id: SessionId,
        by: &Attribution,
    ) -> Result<Arc<Session>, Error> {
        until_committed("withdraw session", || async {
            let judged = self.load(id).await?;
            let withdrawn = self.saved(rules::withdraw(&judged, by)).await?;
            if withdrawn.is_none() && self.load(id).await?.version == judged.version {
                // Nobody else has changed it, so a take blocked the write.
                return Err(Refusal::TakesOnFile.into());
            }
            Ok(withdrawn)
        })
        .await
    }

    /// Sets a session's roster. It can be set only once.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`]; [`Refusal::RosterFrozen`] when it
    /// already has one; [`Refusal::InvalidRequest`] when the roster lists somebody who is no member.
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
    /// # Errors
    /// [`Refusal::NotFound`] for the session or the member; [`Refusal::AlreadyAggregated`];
    /// [`Refusal::NoRoster`].
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
                Some(change) => self.saved(change).await,
                None => Ok(Some(judged.record)),
            }
        })
        .await
    }

    pub(super) async fn load(&self, id: SessionId) -> Result<Versioned<Session>, Error> {
        Ok(self.store.session(id).await?.ok_or(Refusal::NotFound(Resource::Session))?)
    }

    async fn saved(&self, change: SessionChange) -> Result<Option<Arc<Session>>, Error> {
        let saved = self.store.save_session(&change).await?;
        if saved == Saved::Saved {
            self.observer.tell(Commit::Session(&change.session));
            if change.opens || change.withdrawn {
                self.show_what_was_held(&change.session).await;
            }
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

    /// Moves sessions that are `collecting` after their deadline to `window_closed`, and opens the blind ones
    /// among them. Several servers may do this concurrently. [`Round::done`] is the number of sessions.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn close_due_sessions(&self) -> Result<Round, Error> {
        let collecting = SessionQuery {
            state: Some(SessionState::Collecting),
            limit: usize::MAX,
            without_snapshots: true,
            ..SessionQuery::default()
        };
        let collecting = self.store.sessions(&collecting).await?;
        let now = self.store.now().await?;
        let mut round = Round::default();
        for session in collecting {
            self.close_if_due(&session, now, &mut round).await?;
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

    /// The time by the store's clock.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.store.now().await?)
    }
}

/// What the public sees of these takes of a session.
fn shown(session: &Session, takes: &[Arc<Take>]) -> Vec<PublicTake> {
    takes.iter().map(|take| public_take(session, take)).collect()
}
