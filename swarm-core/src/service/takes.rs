//! Filing takes, preflights, and reads of takes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::basis_cache::SubmitInProgress;
use super::retries::until_committed;
use super::{Commit, Error, MAX_ACCEPTING, SubmitError, Tenant, log_rows};
use crate::domain::{
    Actor, AttemptId, Attribution, LogEntry, LogLine, Logged, Member, MemberId, Note, Salt,
    SealedTake, Seq, Session, SessionId, SessionState, SessionSummary, StoredSealedTake,
    StoredTake, Take, TakeDraft, TakeId, TakeOnFile, Timestamp,
};
use crate::proof::{Entropy, NoEntropy};
use crate::rules::{
    self, Counting, Draft, NamedMemo, Preflight, PublicTake, Refusal, Rejection, Resource,
    RosterNotice, Submission, Warning,
};
use crate::store::{
    self, Basis, BasisQuery, Caller, Filed, Filing, LogIdentity, MemberTake, MemberTakeQuery,
    Records, SessionQuery, StoreError, TakeContext, TakeMarks, TakeQuery, Versioned,
};

/// Number of rows of the log that the first read for the newest takes reads. Each further read reads twice as many.
const FIRST_LOG_ROWS: u64 = 8;

/// Maximum number of rows of the log that one read for the newest takes reads.
const LOG_ROWS_AT_ONCE: u64 = 64;

/// Maximum number of rows of the log that a search for the newest takes reads.
const MAX_LOG_ROWS: u64 = 1_024;

/// A take that is committed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FiledTake {
    /// The take.
    pub take: Arc<Take>,
    /// The number of its entry in the log, where the commit said it.
    pub entry: Option<Seq>,
    /// The parts of the take that do not count.
    pub warnings: Vec<Warning>,
}

/// Takes that a scan of the log found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakeScan {
    /// The takes, newest first.
    pub takes: Vec<PublicTake>,
    /// Where the next scan continues; `None` at the beginning of the log.
    pub next_before: Option<Seq>,
}

/// A take in its session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakeInSession {
    /// The take.
    pub take: PublicTake,
    /// What lists show of its session.
    pub session: Arc<SessionSummary>,
    /// Whether the take counts in the snapshot of the session; `None` until there is a snapshot.
    pub counting: Option<Counting>,
}

/// A page of the takes of a member.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemberTakePage {
    /// The latest take in each session, the session with the highest id first.
    pub takes: Vec<TakeInSession>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

/// Filing a take.
impl Tenant {
    /// Files a take that the calling member has signed (API.md, 5). The take is committed when this returns it.
    ///
    /// The caller is the hash of a bearer token. A program that has authenticated the member itself passes
    /// [`Caller::Authenticated`] with its id instead. All other checks are the same.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`SubmitError::Refused`] with the first check that fails, in the order of API.md, 5.2; the
    /// other variants when the outcome is unknown.
    pub async fn submit(
        &self,
        caller: impl Into<Caller<'_>> + Send,
        submission: &Submission,
    ) -> Result<Arc<Take>, SubmitError> {
        Ok(self.submit_warned(caller, submission).await?.take)
    }

    /// Files a take as [`submit`](Self::submit) does, and returns warnings if some of it does not count.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// The errors of [`submit`](Self::submit).
    pub async fn submit_warned(
        &self,
        caller: impl Into<Caller<'_>> + Send,
        submission: &Submission,
    ) -> Result<FiledTake, SubmitError> {
        let query = query(caller.into(), submission);
        let random = RandomValues::draw(&*self.entropy)?;
        let in_progress = self.cache.begin(&query, &submission.draft().member_id);
        if let Some(in_progress) = &in_progress
            && let Some(filed) =
                self.submit_by_cache(in_progress, &query, submission, &random).await?
        {
            return Ok(filed);
        }
        until_committed("file", || async {
            let basis = self.basis(&query).await?;
            let filing = match random.judge(&basis, submission) {
                Ok(filing) => filing,
                Err(rejection) => return Err(self.with_open_sessions(rejection).await.into()),
            };
            if let Err(refusal) = self.check_policy_on(&basis, submission).await {
                return Err(Rejection::from(refusal).into());
            }
            let refusal = match self.file(filing).await? {
                Filed::Filed(take, entry) => {
                    let take = self.filed(&query, in_progress.as_ref(), take);
                    return Ok(Some(self.warned(take, entry, &basis, submission).await));
                }
                Filed::Stale => return Ok(None),
                Filed::Late => Refusal::WindowClosed,
                Filed::NonceUsed => Refusal::NonceUsed,
                Filed::RevisionTaken => Refusal::LostRace,
            };
            Err(self.rejection(refusal, &query, submission).await)
        })
        .await
    }

    /// Files a take if the cached facts accept it and still hold. Otherwise returns `None`, because
    /// the cached facts may be out of date. Only the loser of a race for a revision is refused
    /// here.
    async fn submit_by_cache(
        &self,
        in_progress: &SubmitInProgress,
        query: &BasisQuery<'_>,
        submission: &Submission,
        random: &RandomValues,
    ) -> Result<Option<FiledTake>, SubmitError> {
        let Some(log) = self.log_of_cache().await? else { return Ok(None) };
        let Some(basis) = self.cache.recall(query, log) else { return Ok(None) };
        let Ok(filing) = random.judge(&basis, submission) else { return Ok(None) };
        if self.check_policy_on(&basis, submission).await.is_err() {
            return Ok(None);
        }
        match self.file(filing).await {
            Ok(Filed::Filed(take, entry)) => {
                let take = self.filed(query, Some(in_progress), take);
                Ok(Some(self.warned(take, entry, &basis, submission).await))
            }
            Ok(Filed::RevisionTaken) => {
                // If another take won the race, this process has recorded it by now, unless the task of that take has
                // not run yet.
                self.basis(query).await?;
                if !in_progress.another_was_filed() {
                    return Ok(None);
                }
                // Read the facts after that, because the take that won may be this very one, sent twice.
                Err(self.rejection(Refusal::LostRace, query, submission).await)
            }
            Ok(Filed::Stale | Filed::Late | Filed::NonceUsed) => Ok(None),
            // Nothing was committed, perhaps because another log has begun.
            Err(error) if error.is_contended() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the policy about a take that the rules accept on these facts.
    async fn check_policy_on(&self, basis: &Basis, submission: &Submission) -> Result<(), Refusal> {
        let draft = submission.draft();
        self.check_policy(basis, (draft.date, &draft.subject_id), Some(draft)).await
    }

    /// The rejection for a refusal of the store. It reads the facts again, to find out whether this
    /// take is already stored.
    async fn rejection(
        &self,
        refusal: Refusal,
        query: &BasisQuery<'_>,
        submission: &Submission,
    ) -> SubmitError {
        match self.basis(query).await {
            Ok(basis) => rules::rejection(refusal, &basis, submission).into(),
            Err(error) => error,
        }
    }

    fn filed(
        &self,
        query: &BasisQuery<'_>,
        in_progress: Option<&SubmitInProgress>,
        take: Arc<Take>,
    ) -> Arc<Take> {
        if let Some(in_progress) = in_progress {
            in_progress.note_filed();
        }
        self.cache.filed(query, &take);
        take
    }

    async fn file(&self, filing: Filing) -> store::Result<Filed> {
        let commit = |store: Records| async move { store.file(&filing).await };
        self.observer
            .commit(&self.store, commit, |filed| match filed {
                Filed::Filed(take, _) => Some(Commit::take(take)),
                _ => None,
            })
            .await
    }

    async fn warned(
        &self,
        take: Arc<Take>,
        entry: Option<Seq>,
        basis: &Basis,
        submission: &Submission,
    ) -> FiledTake {
        let mut warnings = rules::warnings(basis, submission);
        // The take is filed, so it is returned even if this cannot be read.
        warnings.extend(self.unknown_memo(submission.draft()).await.unwrap_or_default());
        FiledTake { take, entry, warnings }
    }

    /// The warning about a `memoUrl` that leads to this service, and to no memo that the author can read.
    async fn unknown_memo(&self, draft: &TakeDraft) -> Result<Option<Warning>, Error> {
        let is_known = match NamedMemo::of(&draft.memo_url, self.public_url.as_deref()) {
            None => true,
            Some(NamedMemo::Nothing) => false,
            Some(NamedMemo::Id(id)) => self.is_memo_for(id, &draft.member_id).await?,
        };
        Ok((!is_known).then_some(Warning::UnknownMemo))
    }

    /// Returns all reasons for which a take would be refused now, without filing it (API.md, 9.3).
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`] when the caller is no active member.
    pub async fn preflight(
        &self,
        caller: impl Into<Caller<'_>> + Send,
        draft: &Draft,
    ) -> Result<Preflight, Error> {
        let basis = self.basis(&query(caller.into(), &draft.submission)).await?;
        let mut preflight = rules::preflight(&basis, draft)?;
        if preflight.findings.is_empty()
            && let Err(refusal) = self.check_policy_on(&basis, &draft.submission).await
        {
            preflight.findings.push(refusal);
        }
        for refusal in &mut preflight.findings {
            self.fill_open_sessions(refusal).await;
        }
        if preflight.findings.contains(&Refusal::NotOnRoster)
            && let Some(session) = preflight.session
        {
            preflight.roster = self.roster_notice(session).await?;
        }
        if !draft.was_replaced("memoUrl") {
            preflight.warnings.extend(self.unknown_memo(draft.submission.draft()).await?);
        }
        Ok(preflight)
    }

    /// Since when the roster of this session stands, and where a member that is not on it can file; `None` if there is no
    /// roster any more.
    async fn roster_notice(&self, session: SessionId) -> Result<Option<RosterNotice>, Error> {
        let acts = self.acts_on(session).await?;
        let has_roster = |line: &&LogLine| match &line.entry {
            LogEntry::Session(act) => act.session.roster_digest.is_some(),
            _ => false,
        };
        let Some(since) = acts.iter().find(has_roster).map(|line| line.at) else { return Ok(None) };
        let accepting = self.accepting_sessions(MAX_ACCEPTING).await?;
        let open = accepting.iter().filter(|session| session.roster.is_none());
        let open = open.map(|session| (session.date, session.subject_id.clone()));
        Ok(Some(RosterNotice { since, open: open.take(rules::MAX_SESSIONS_NAMED + 1).collect() }))
    }

    async fn with_open_sessions(&self, mut rejection: Rejection) -> Rejection {
        self.fill_open_sessions(&mut rejection.reason).await;
        rejection
    }

    /// Adds the sessions that accept takes to a refusal for a session that does not exist. If the store does not
    /// answer, the refusal stays as it is.
    async fn fill_open_sessions(&self, refusal: &mut Refusal) {
        if let Refusal::NoSession { open } = refusal
            && let Ok(sessions) = self.accepting_sessions(rules::MAX_SESSIONS_NAMED + 1).await
        {
            let name = |session: &Arc<Session>| (session.date, session.subject_id.clone());
            *open = sessions.iter().map(name).collect();
        }
    }

    async fn basis<R>(&self, query: &BasisQuery<'_>) -> Result<Basis, Error<R>> {
        let log = self.log_of_cache().await?;
        let basis = self.store.basis(query).await?;
        if let Some(log) = log {
            self.cache.loaded(query, log, &basis);
        }
        Ok(basis)
    }

    /// The log that cached facts must belong to; `None` when caching is off.
    async fn log_of_cache(&self) -> Result<Option<LogIdentity>, StoreError> {
        match self.cache.is_enabled() {
            true => Ok(Some(self.store.log_identity())),
            false => Ok(None),
        }
    }
}

/// Reading takes.
impl Tenant {
    /// Returns a take, as the public sees it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn take(&self, id: TakeId) -> Result<TakeOnFile<PublicTake>, Error> {
        let TakeOnFile { take, superseded_by } = self.take_on_file(id).await?;
        Ok(TakeOnFile { take: PublicTake::of(&take), superseded_by })
    }

    /// Returns a take as an active member sees it: its own takes complete even while they are sealed, other takes as the public
    /// does. A bearer token opens only takes that were filed after it was claimed; with a token of
    /// nobody it is what the public sees.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn take_for(
        &self,
        caller: impl Into<Caller<'_>>,
        id: TakeId,
    ) -> Result<TakeOnFile<PublicTake>, Error> {
        let (caller, found) = (caller.into(), self.take_on_file(id).await?);
        let take = &found.take;
        if self.is_shown_sealed(caller, take.member_id(), take.filed_at()).await?
            && let StoredTake::Sealed(take) = take
        {
            let take = self.unsealed(take).await?;
            return Ok(TakeOnFile { take, superseded_by: found.superseded_by });
        }
        Ok(TakeOnFile { take: PublicTake::of(take), superseded_by: found.superseded_by })
    }

    /// Returns whether a caller reads what this member has filed at this time while it is sealed.
    pub(super) async fn is_shown_sealed(
        &self,
        caller: Caller<'_>,
        author: &MemberId,
        filed_at: Timestamp,
    ) -> Result<bool, Error> {
        Ok(match caller {
            Caller::Bearer(token) => {
                let bearer = self.store.bearer(token).await?;
                bearer.is_some_and(|bearer| rules::is_shown_sealed(&bearer, author, filed_at))
            }
            // The program vouches for the member, so no operator can have handed it a token.
            Caller::Authenticated(member) if member == author => {
                let known = self.store.member(member).await?.member;
                known.is_some_and(|known| known.record.state.is_active())
            }
            Caller::Authenticated(_) => false,
        })
    }

    /// A sealed take as its author sees it.
    async fn unsealed(&self, take: &StoredSealedTake) -> Result<PublicTake, Error> {
        let SealedTake { id, session_id, .. } = take.shown;
        let after = TakeId(id.0.saturating_sub(1));
        let all = TakeQuery::all(session_id);
        let query = TakeQuery { after, limit: 1, unsealed: true, ..all };
        let (_, found) = self.session_takes(&query).await?;
        let found = found.iter().find(|found| found.id() == id);
        Ok(found.map(PublicTake::of).ok_or(Refusal::NotFound(Resource::Take))?)
    }

    /// Returns whether the texts of a take were erased, so that they cannot be shown again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn are_texts_erased(&self, id: TakeId) -> Result<bool, Error> {
        let take = self.take_on_file(id).await?.take;
        Ok(take.whole().is_some_and(|take| !take.has_texts()))
    }

    async fn take_on_file(&self, id: TakeId) -> Result<TakeOnFile<StoredTake>, Error> {
        Ok(self.store.take(id).await?.ok_or(Refusal::NotFound(Resource::Take))?)
    }

    /// Returns a take among those of its session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn take_context(&self, id: TakeId) -> Result<TakeContext<PublicTake>, Error> {
        let context = self.store.take_context(id).await?;
        let TakeContext { revisions, previous, next } =
            context.ok_or(Refusal::NotFound(Resource::Take))?;
        Ok(TakeContext {
            revisions: revisions.iter().map(PublicTake::of).collect(),
            previous: previous.as_ref().map(PublicTake::of),
            next: next.as_ref().map(PublicTake::of),
        })
    }

    /// Returns whether the latest take of a member counts in the snapshot of its session; `None` without a
    /// snapshot. Reads the snapshot's quotes only if the take was filed in the same millisecond as the
    /// aggregation.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such session.
    pub async fn counting(&self, take: &PublicTake) -> Result<Option<Counting>, Error> {
        let session = self.summary(take.session_id()).await?;
        let sessions = HashMap::from([(session.id, session)]);
        Ok(self.countings(std::slice::from_ref(take), &sessions).await?.remove(&take.id()))
    }

    /// Returns the same of several takes, without those of sessions that have no snapshot. `sessions` has the sessions of the takes. Each
    /// roster is read once.
    ///
    /// # Errors
    /// As [`counting`](Self::counting).
    pub async fn countings(
        &self,
        takes: &[PublicTake],
        sessions: &HashMap<SessionId, Arc<SessionSummary>>,
    ) -> Result<HashMap<TakeId, Counting>, Error> {
        // A roster does not change once there is a snapshot.
        let mut with_roster = HashMap::new();
        for session in sessions.values().filter(|it| it.has_roster && it.figures.is_some()) {
            with_roster.insert(session.id, self.without_snapshot(session.id).await?);
        }
        let mut found = HashMap::with_capacity(takes.len());
        for take in takes {
            let id = take.session_id();
            let Some(figures) = sessions.get(&id).and_then(|it| it.figures.as_ref()) else {
                continue;
            };
            let is_expected =
                with_roster.get(&id).is_none_or(|session| session.expects(take.member_id()));
            let counting = match rules::counting_by_time(take.filed_at(), figures, is_expected) {
                Some(counting) => Some(counting),
                None => {
                    let session = self.session_record(id).await?;
                    session.snapshot.as_deref().map(|snapshot| rules::counting(take, snapshot))
                }
            };
            found.extend(counting.map(|counting| (take.id(), counting)));
        }
        Ok(found)
    }

    /// Returns up to `limit` of the latest takes of members that `keep` accepts, newest first, in sessions of any state: no
    /// superseded ones. It searches the 1,024 entries of the log before the one numbered `before`, or the last 1,024 ones.
    /// The entries by which a session was opened do not count.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn newest_takes(
        &self,
        before: Option<Seq>,
        limit: usize,
        keep: impl Fn(&PublicTake) -> bool + Send,
    ) -> Result<TakeScan, Error> {
        let size = self.store.log_position().await?.size;
        let mut end = before.map_or(size, |before| size.min(Seq(before.0.saturating_sub(1))));
        let mut last = end.0.saturating_sub(MAX_LOG_ROWS);
        let (mut takes, mut at_once) = (Vec::new(), FIRST_LOG_ROWS);
        // From the end of the log on, the first take of a member in a session is the latest.
        let mut authors = (end == size).then(HashSet::new);
        while end.0 > last {
            let start = Seq(end.0.saturating_sub(at_once).max(last));
            at_once = LOG_ROWS_AT_ONCE.min(2 * at_once);
            let rows = usize::try_from(end.0 - start.0).unwrap_or_default();
            let rows = log_rows::rows(&self.store, start, rows).await?;
            if rows.iter().any(Result::is_err) {
                // One that cannot be read may be of a later take.
                authors = None;
            }
            let opened = self.opening_act(rows.first()).await?;
            for row in rows.into_iter().rev().flatten() {
                let Logged::Take(take) = &row.logged else { continue };
                let (seq, take) = (row.seq, PublicTake::of(take));
                let is_known_to_be_latest = authors
                    .as_mut()
                    .map(|authors| authors.insert((take.session_id(), take.member_id().clone())));
                let is_wanted = keep(&take)
                    && match is_known_to_be_latest {
                        Some(is_latest) => is_latest,
                        None => self.is_latest(take.id()).await?,
                    };
                if is_wanted {
                    takes.push(take);
                }
                if takes.len() == limit {
                    let next = Some(seq).filter(|seq| seq.0 > 1);
                    return Ok(TakeScan { takes, next_before: next });
                }
            }
            end = opened.unwrap_or(start).min(start);
            last = last.saturating_sub(start.0 - end.0);
        }
        let next_before = (end.0 > 0).then_some(Seq(end.0 + 1));
        Ok(TakeScan { takes, next_before })
    }

    async fn is_latest(&self, id: TakeId) -> Result<bool, StoreError> {
        Ok(self.store.take(id).await?.is_some_and(|found| found.superseded_by.is_none()))
    }

    /// If this row opens a take: the number of the act that opened the session. All rows between them open takes too.
    async fn opening_act(&self, row: Option<&log_rows::Row>) -> Result<Option<Seq>, StoreError> {
        let row = row.and_then(|row| row.as_ref().ok());
        let Some(id) = row.and_then(log_rows::opened_take) else { return Ok(None) };
        let Some(found) = self.store.take(id).await? else { return Ok(None) };
        let acts = self.store.acts_on(found.take.session_id()).await?;
        Ok(acts.iter().find(|act| log_rows::opens_session(act)).map(|act| act.seq))
    }
}

/// The texts of takes, which operators withhold, restore and erase (API.md, 7.10).
impl Tenant {
    /// Withholds write-up and memo address of a take from the public, and returns the take as it is shown then. Its stance,
    /// confidence and weights stay, and count.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::TakeWithheld`]; [`Refusal::TakesSealed`].
    pub async fn withhold_take(
        &self,
        id: TakeId,
        note: &Note,
        by: &Actor,
    ) -> Result<TakeOnFile<PublicTake>, Error> {
        let by = Attribution::from(by.clone());
        self.mark_take(id, |session, take| match take.whole() {
            Some(take) => rules::withhold(session, take, note.clone(), &by),
            None => Err(Refusal::TakesSealed),
        })
        .await
    }

    /// Shows write-up and memo address of a take again, and returns the take.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::TakeNotWithheld`]; [`Refusal::TextsErased`].
    pub async fn restore_take(
        &self,
        id: TakeId,
        by: &Attribution,
    ) -> Result<TakeOnFile<PublicTake>, Error> {
        self.mark_take(id, |session, take| match take.whole() {
            Some(take) => rules::restore(session, take, by),
            None => Err(Refusal::TakeNotWithheld),
        })
        .await
    }

    async fn mark_take(
        &self,
        id: TakeId,
        judge: impl Fn(&Versioned<Session>, &StoredTake) -> Result<TakeMarks, Refusal> + Send + Sync,
    ) -> Result<TakeOnFile<PublicTake>, Error> {
        until_committed("mark take", || async {
            let session = self.take_on_file(id).await?.take.session_id();
            // The session is read before the mark that it guards.
            let session = self.load(session).await?;
            let found = self.take_on_file(id).await?;
            let marks = judge(&session, &found.take)?;
            let Some((at, marks)) = self.marked(marks).await? else { return Ok(None) };
            let superseded_by = found.superseded_by;
            let take = marks.marked(at).next().map(|take| PublicTake::opened(&Arc::new(take)));
            Ok(take.map(|take| TakeOnFile { take, superseded_by }))
        })
        .await
    }

    async fn marked(&self, marks: TakeMarks) -> Result<Option<(Timestamp, TakeMarks)>, Error> {
        let commit = |store: Records| async move {
            Ok(store.mark_takes(&marks).await?.map(|at| (at, marks)))
        };
        Ok(self
            .observer
            .commit(&self.store, commit, |marked| {
                marked.as_ref().map(|(_, marks)| Commit::session(&marks.session, &marks.acts))
            })
            .await?)
    }

    /// Erases the texts of all takes of a member that is not active, and returns their number.
    ///
    /// # Errors
    /// [`Refusal::TakesSealed`], with nothing erased, when a take is in a session that is blind and not opened yet.
    pub(super) async fn erase_takes(
        &self,
        member: &Versioned<Member>,
        by: &Actor,
    ) -> Result<usize, Error> {
        let (by, author) =
            (Attribution::from(by.clone()), (member.record.id.clone(), member.version));
        let sessions = self.filed_sessions(&member.record.id).await?;
        for (session, _) in &sessions {
            if self.without_snapshot(*session).await?.is_sealed() {
                return Err(Refusal::TakesSealed.into());
            }
        }
        let mut erased = 0;
        for (session, latest) in sessions {
            erased += until_committed("erase texts", || async {
                if self.load_member(&author.0).await?.version != author.1 {
                    return Err(Refusal::MemberIs(member.record.state).into());
                }
                let session = self.load(session).await?;
                let context = self.store.take_context(latest).await?;
                let takes = context.map(|context| context.revisions).unwrap_or_default();
                let takes: Vec<_> = takes.iter().filter_map(StoredTake::whole).cloned().collect();
                match rules::erase_texts(&session, &takes, author.clone(), &by)? {
                    Some(marks) => {
                        Ok(self.marked(marks).await?.map(|(_, marks)| marks.takes.len()))
                    }
                    None => Ok(Some(0)),
                }
            })
            .await?;
        }
        Ok(erased)
    }

    /// The sessions in which a member filed, each with its latest take.
    async fn filed_sessions(&self, member: &MemberId) -> Result<Vec<(SessionId, TakeId)>, Error> {
        const BATCH: usize = 100;
        let mut query = MemberTakeQuery { member: member.clone(), before: None, limit: BATCH };
        let mut sessions = Vec::new();
        loop {
            let filed = self.store.member_takes(&query).await?;
            sessions.extend(filed.iter().map(|filed| (filed.session.id, filed.take.id())));
            query.before = filed.last().map(|last| last.session.id);
            if filed.len() < BATCH {
                return Ok(sessions);
            }
        }
    }
}

/// The takes of a member, session by session.
impl Tenant {
    /// Returns the latest take of a member in each of up to `limit` sessions that it filed in, those with the
    /// highest ids below `before`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn member_takes(
        &self,
        member: &MemberId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<MemberTakePage, Error> {
        // Reads one take more than fits on the page, to know whether there is another page.
        let limit_and_one = limit.saturating_add(1);
        let query = MemberTakeQuery { member: member.clone(), before, limit: limit_and_one };
        let mut filed = self.store.member_takes(&query).await?;
        let is_last = filed.len() <= limit;
        filed.truncate(limit);
        let next_before = filed.last().filter(|_| !is_last).map(|last| last.session.id);
        let mut takes = Vec::with_capacity(filed.len());
        for take in filed {
            takes.push(self.in_session(take).await?);
        }
        Ok(MemberTakePage { takes, next_before })
    }

    async fn in_session(&self, filed: MemberTake) -> Result<TakeInSession, Error> {
        let MemberTake { take, session, expected } = filed;
        let take = PublicTake::of(&take);
        let counting = match &session.figures {
            Some(figures) => {
                let counts = expected || !session.has_roster;
                match rules::counting_by_time(take.filed_at(), figures, counts) {
                    Some(counting) => Some(counting),
                    None => self.counting_by_quotes(&take).await?,
                }
            }
            None => None,
        };
        Ok(TakeInSession { take, session, counting })
    }

    async fn counting_by_quotes(&self, take: &PublicTake) -> Result<Option<Counting>, Error> {
        let session = self.session_record(take.session_id()).await?;
        Ok(session.snapshot.as_deref().map(|snapshot| rules::counting(take, snapshot)))
    }

    /// Returns in how many of the `limit` newest sessions with ids below `before` the member was expected, of those that
    /// have a snapshot; and in how many of these it filed a take that counts, which is among `takes`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn filed_of_expected(
        &self,
        member: &MemberId,
        takes: &[TakeInSession],
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<(usize, usize), Error> {
        let query =
            SessionQuery { before, limit, without_snapshots: true, ..SessionQuery::default() };
        let mut sessions = self.store.sessions(&query).await?;
        sessions.retain(|session| {
            let is_aggregated = session.state >= SessionState::Aggregated;
            is_aggregated && session.counts() && session.roster.is_some() && session.expects(member)
        });
        let counted = takes.iter().filter(|take| take.counting == Some(Counting::Counted));
        let counted: HashSet<_> = counted.map(|take| take.session.id).collect();
        let filed = sessions.iter().filter(|session| counted.contains(&session.id)).count();
        Ok((filed, sessions.len()))
    }
}

/// The random values of a submission. They stay the same if it is judged several times.
struct RandomValues {
    attempt: AttemptId,
    salt: Salt,
}

impl RandomValues {
    /// Draws both at once: each draw may cost a system call.
    fn draw(entropy: &dyn Entropy) -> Result<Self, NoEntropy> {
        let (mut attempt, mut salt) = ([0; 16], [0; 32]);
        let bytes: [u8; 48] = entropy.bytes()?;
        let (first, rest) = bytes.split_at(attempt.len());
        attempt.copy_from_slice(first);
        salt.copy_from_slice(rest);
        Ok(Self { attempt: AttemptId(attempt), salt: Salt(salt) })
    }

    fn judge(&self, basis: &Basis, submission: &Submission) -> Result<Filing, Rejection> {
        rules::judge(basis, submission, self.attempt, self.salt)
    }
}

/// The keys of the facts that a take is judged on.
fn query<'a>(caller: Caller<'a>, submission: &'a Submission) -> BasisQuery<'a> {
    let TakeDraft { date, subject_id, nonce, .. } = submission.draft();
    BasisQuery { caller, date: *date, subject_id, nonce }
}
