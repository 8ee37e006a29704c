//! The rules for changes of a session: its state, deadline, quorum and roster (API.md, 7.3).

use std::collections::HashSet;
use std::sync::Arc;

use super::log::{self, Act};
use super::{Refusal, Resource, Versioned, aggregate, takes_may_come};
use crate::domain::{
    Attribution, Invalid, Member, MemberId, OutcomeDraft, Roster, Session, SessionAct,
    SessionDraft, SessionId, SessionPatch, SessionState, Take, Timestamp, Version, Voided,
};

/// The first write of a session.
#[derive(Clone, Debug)]
pub struct Convocation {
    /// The session to convene.
    pub draft: SessionDraft,
    /// Its entry in the log.
    pub act: Act,
}

/// Convenes a session.
pub fn convene(draft: &SessionDraft, by: &Attribution) -> Convocation {
    Convocation { draft: draft.clone(), act: log::convened(draft, by) }
}

/// Returns whether a session accepts takes that count, if it is the newest of its day and subject: takes go to the newest one.
fn accepts_takes(session: &Session, now: Timestamp) -> bool {
    session.state < SessionState::Aggregated && takes_may_come(session.window_closes_at, now)
}

/// Checks that a practice session may be convened beside `newest`, the newest session of its day and subject.
///
/// # Errors
/// [`Refusal::InvalidRequest`] when takes that are meant for that session would go to the practice session.
pub fn may_practise(newest: Option<&Session>, now: Timestamp) -> Result<(), Refusal> {
    if newest.is_some_and(|newest| newest.counts() && accepts_takes(newest, now)) {
        let rule = "must not be given while another session of the day and subject accepts takes";
        return Err(Refusal::InvalidRequest(Invalid::new("practice", rule)));
    }
    Ok(())
}

/// Returns whether a change of a session lets it accept takes again.
pub fn reopens(before: &Session, after: &Session, now: Timestamp) -> bool {
    !accepts_takes(before, now) && accepts_takes(after, now)
}

/// Checks that a session may accept takes again beside `newest`, the newest session of its day and subject.
///
/// # Errors
/// [`Refusal::InvalidRequest`] when the session counts, and its takes would go to a practice session.
pub fn may_reopen(
    reopened: &Session,
    newest: Option<&Session>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let diverts = |newest: &Session| newest.practice && accepts_takes(newest, now);
    if reopened.counts() && newest.is_some_and(diverts) {
        let rule =
            "must not reopen it while a practice session of the day and subject accepts takes";
        return Err(Refusal::InvalidRequest(Invalid::new("windowClosesAt", rule)));
    }
    Ok(())
}

/// A change of an existing session. Its id, day, subject and time of convening never change.
#[derive(Clone, Debug)]
pub struct SessionChange {
    /// The complete new record.
    pub session: Session,
    /// The version that was judged.
    pub expected: Version,
    /// Guard: the number of takes, counting all revisions.
    pub takes: Option<usize>,
    /// Why the change is refused where that guard fails.
    pub takes_refusal: Refusal,
    /// Guard: no take may have been filed after this time.
    pub none_filed_after: Option<Timestamp>,
    /// Whether the record is removed instead of written; `session` is then its last state.
    pub withdrawn: bool,
    /// Its entries in the log, in order.
    pub acts: Vec<Act>,
    /// Whether the commit opens the session: it then appends an [opening entry](crate::proof::opening_entry) for
    /// each of its takes after the acts, in the order of their ids.
    pub opens: bool,
}

/// Returns whether a session may move from one state to another: forward, or back from window_closed to collecting. It
/// enters published only from aggregated.
pub(crate) fn may_move(from: SessionState, to: SessionState) -> bool {
    use SessionState::{Aggregated, Collecting, Published, WindowClosed};
    match (from, to) {
        (WindowClosed, Collecting) | (Aggregated, Published) => true,
        (_, Published) => false,
        _ => from < to,
    }
}

impl SessionChange {
    /// Returns why the change is refused where only takes block it; `None` if none can.
    pub fn refusal_of_takes(&self) -> Option<Refusal> {
        let filed_later = self.none_filed_after.map(|_| Refusal::FiledLater);
        self.takes.map(|_| self.takes_refusal.clone()).or(filed_later)
    }

    /// The same change, which must not depend on what takes say: in a sealed session it is made before the first take, or not
    /// at all. An operator who reads the store would know what it changes.
    fn before_sealed_takes(self, judged: &Session) -> Self {
        if !judged.is_sealed() || self.takes.is_some() {
            return self;
        }
        Self { takes: Some(0), takes_refusal: Refusal::TakesSealed, ..self }
    }

    /// The same change, which is made before the first take, or not at all.
    fn before_takes(self) -> Self {
        Self { takes: Some(0), takes_refusal: Refusal::TakesOnFile, ..self }
    }
}

/// Moves a session to another state: forward, or back from window_closed to collecting. It enters published only
/// from aggregated, and aggregated only by an [`Aggregation`], which writes the snapshot. A sealed session is
/// opened when its window has closed and its deadline has passed.
///
/// # Errors
/// [`Refusal::SessionIs`] when its state does not allow the transition; [`Refusal::SessionIsVoid`].
pub fn advance(
    session: &Versioned<Session>,
    to: SessionState,
    now: Timestamp,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    use SessionState::{Aggregated, Published, WindowClosed};
    let from = session.record.state;
    not_void(&session.record)?;
    if to == Aggregated || !may_move(from, to) {
        return Err(Refusal::SessionIs(from));
    }
    let mut moved = Session { state: to, ..Session::clone(&session.record) };
    moved.published_at = moved.published_at.or((to == Published).then_some(now));
    let opens = to == WindowClosed && !takes_may_come(moved.window_closes_at, now);
    let change = change(session, moved, SessionAct::State, by);
    Ok(if opens { opened(change, now, by) } else { change })
}

/// Ends the window of a session: its deadline becomes `now`, unless it has passed, and its state `window_closed`. The deadline never comes
/// before a take on file, of which `last_filed_at` is the latest.
///
/// # Errors
/// [`Refusal::SessionIs`] when its state does not allow the transition.
pub fn end_window(
    session: &Versioned<Session>,
    last_filed_at: Option<Timestamp>,
    now: Timestamp,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    let (record, state) = (&session.record, SessionState::WindowClosed);
    let is_closed = record.state == state;
    if !takes_may_come(record.window_closes_at, now)
        || !(is_closed || may_move(record.state, state))
    {
        return advance(session, state, now, by);
    }
    let deadline = last_filed_at.map_or(now, |last| last.max(now));
    let ended = Session { window_closes_at: Some(deadline), ..Session::clone(record) };
    let mut change = change(session, ended, SessionAct::Deadline, by);
    if !is_closed {
        change.session = after_act(Session { state, ..change.session });
        // The operator's note is in the entry of the deadline.
        let by = Attribution::from(by.by.clone());
        change.acts.push(log::session_changed(SessionAct::State, &change.session, &by));
    }
    let change = SessionChange { none_filed_after: Some(deadline), ..change };
    // A first deadline takes nothing away from anybody who read the terms.
    Ok(match record.window_closes_at {
        Some(_) => change.before_sealed_takes(record),
        None => change,
    })
}

/// Voids an aggregated session, because of what the note says: it counts for nothing from then on.
///
/// # Errors
/// [`Refusal::InvalidRequest`] without a note; [`Refusal::SessionIs`] before it is aggregated;
/// [`Refusal::SessionIsPractice`]: it counts for nothing as it is; [`Refusal::SessionIsVoid`].
pub fn void(
    session: &Versioned<Session>,
    now: Timestamp,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    let record = &session.record;
    let note = by.note.as_ref().filter(|note| !note.as_str().trim().is_empty());
    let note = note.ok_or_else(|| Refusal::InvalidRequest(Invalid::missing("note")))?;
    not_void(record)?;
    not_practice(record)?;
    if record.state < SessionState::Aggregated {
        return Err(Refusal::SessionIs(record.state));
    }
    let voided = Some(Voided { at: now, note: note.clone() });
    let voided = Session { voided, ..Session::clone(record) };
    Ok(change(session, voided, SessionAct::Void, by))
}

/// Refuses what makes no sense once a session counts for nothing.
fn not_void(session: &Session) -> Result<(), Refusal> {
    if session.voided.is_some() { Err(Refusal::SessionIsVoid) } else { Ok(()) }
}

/// Refuses what a practice session does not have.
fn not_practice(session: &Session) -> Result<(), Refusal> {
    if session.practice { Err(Refusal::SessionIsPractice) } else { Ok(()) }
}

/// The aggregation of a session. A store judges it within its commit, so it succeeds even if takes keep
/// arriving.
#[derive(Clone, Debug)]
pub struct Aggregation {
    /// The session.
    pub session: SessionId,
    /// The operator who aggregates the session, with the note.
    pub by: Attribution,
}

impl Aggregation {
    /// Returns the session if it can be aggregated, whatever its takes say.
    ///
    /// # Errors
    /// The refusals of [`judge`](Self::judge).
    pub fn check<'a>(
        &self,
        session: Option<&'a Versioned<Session>>,
        has_takes: bool,
        now: Timestamp,
    ) -> Result<&'a Versioned<Session>, Refusal> {
        let session = session.ok_or(Refusal::NotFound(Resource::Session))?;
        let from = session.record.state;
        if !may_move(from, SessionState::Aggregated) {
            return Err(Refusal::SessionIs(from));
        }
        let has_deadline = session.record.window_closes_at.is_some();
        let is_ahead = has_deadline && takes_may_come(session.record.window_closes_at, now);
        if session.record.is_sealed() && is_ahead && has_takes {
            return Err(Refusal::TakesSealed);
        }
        Ok(session)
    }

    /// Moves the session to aggregated, once, and writes the snapshot of `takes`: all takes of the session, with
    /// every revision. `now` is a time at which all of them are stored.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a session; [`Refusal::SessionIs`] when it is aggregated; [`Refusal::TakesSealed`]
    /// when it has sealed takes, and its deadline is ahead.
    pub fn judge(
        &self,
        session: Option<&Versioned<Session>>,
        takes: &[Arc<Take>],
        now: Timestamp,
    ) -> Result<SessionChange, Refusal> {
        let session = self.check(session, !takes.is_empty(), now)?;
        let state = SessionState::Aggregated;
        let withheld = takes.iter().filter(|take| take.withheld.is_some());
        let withheld = withheld.map(|take| take.id).collect();
        let snapshot = aggregate(&session.record, takes, now).withholding(&withheld);
        let snapshot = Some(Arc::new(snapshot));
        let aggregated = Session { state, snapshot, ..Session::clone(&session.record) };
        let aggregated = after_act(aggregated);
        let act = log::aggregated(&aggregated, takes.len(), &self.by);
        let change = opened(logged_as(act, session, aggregated), now, &self.by);
        Ok(SessionChange { takes: Some(takes.len()), ..change })
    }
}

/// Returns whether a session is still `collecting` after its deadline, or still `scheduled` if the server finishes it.
pub fn is_due(session: &Session, now: Timestamp) -> bool {
    closes_by_itself(session) && session.window_closes_at.is_some_and(|deadline| now > deadline)
}

/// Returns whether the server closes a session in this state once its deadline has passed.
pub(super) fn closes_by_itself(session: &Session) -> bool {
    match session.state {
        SessionState::Collecting => true,
        SessionState::Scheduled => session.finish,
        _ => false,
    }
}

/// Moves a session that is [due](is_due) to `window_closed`, and opens it if it is sealed. A session that was
/// closed before its deadline and is still sealed after it is only opened.
pub fn close_if_due(session: &Versioned<Session>, now: Timestamp) -> Option<SessionChange> {
    let (state, by) = (SessionState::WindowClosed, &Attribution::SCHEDULE);
    if is_due(&session.record, now) {
        let closed = Session { state, ..Session::clone(&session.record) };
        return Some(opened(change(session, closed, SessionAct::State, by), now, by));
    }
    let is_late = is_sealed_and_closed(&session.record)
        && !takes_may_come(session.record.window_closes_at, now);
    is_late.then(|| opened(unlogged(session, Session::clone(&session.record)), now, by))
}

/// Returns whether a session is in `window_closed` and still sealed: it is opened after its
/// deadline.
pub(crate) fn is_sealed_and_closed(session: &Session) -> bool {
    session.state == SessionState::WindowClosed && session.is_sealed()
}

/// The same change, which also opens the session if it is sealed (API.md, 5.8).
fn opened(mut change: SessionChange, now: Timestamp, by: &Attribution) -> SessionChange {
    if !change.session.is_sealed() {
        return change;
    }
    change.session = after_act(Session { opened_at: Some(now), ..change.session });
    // The operator's note is in the entry of the state change.
    let by = Attribution::from(by.by.clone());
    change.acts.push(log::session_changed(SessionAct::Opened, &change.session, &by));
    SessionChange { opens: true, ..change }
}

/// Returns an aggregated session as the dry run of its aggregation shows it: without the snapshot if that opens the session.
/// The snapshot would reveal what is sealed, and operators have no early look.
pub(crate) fn without_early_look(session: Arc<Session>) -> Arc<Session> {
    let aggregated_at = session.snapshot.as_ref().map(|snapshot| snapshot.figures.aggregated_at);
    match session.opened_at.is_some() && session.opened_at == aggregated_at {
        true => Arc::new(Session { snapshot: None, ..Session::clone(&session) }),
        false => session,
    }
}

/// Returns whether the deadline of a session may move at all: not once a blind session was opened.
pub(crate) fn may_move_deadline(session: &Session) -> bool {
    session.opened_at.is_none()
}

/// Changes a session's deadline, quorum or question. A window that has closed opens again when its deadline
/// moves ahead or is cleared. A deadline may change in every state, but not to a time before a
/// stored take was filed; a guard of the commit checks that. So no take appears to be late. Once a session has sealed
/// takes, its deadline can only be moved later, and its quorum stays. The question changes only while there is no take. `None` when nothing changes and the operator left no note.
///
/// # Errors
/// [`Refusal::SessionIsVoid`]; [`Refusal::AlreadyAggregated`] when the quorum would change after aggregation;
/// [`Refusal::SessionIsPractice`] for a quorum; [`Refusal::AlreadyOpened`] when the deadline of a blind session would
/// move after it was opened.
pub fn amend(
    session: &Versioned<Session>,
    patch: &SessionPatch,
    now: Timestamp,
    by: &Attribution,
) -> Result<Option<SessionChange>, Refusal> {
    not_void(&session.record)?;
    let mut amended = Session::clone(&session.record);
    if let Some(quorum) = patch.quorum {
        before_aggregation(&session.record)?;
        if quorum.is_some() {
            not_practice(&session.record)?;
        }
        amended.quorum = quorum;
    }
    let deadline = patch.window_closes_at.unwrap_or(amended.window_closes_at);
    let none_filed_after = patch.window_closes_at.flatten();
    amended.window_closes_at = deadline;
    let moves = deadline != session.record.window_closes_at;
    if moves && !may_move_deadline(&session.record) {
        return Err(Refusal::AlreadyOpened);
    }
    let is_ahead = deadline.is_none_or(|deadline| deadline >= now);
    if moves && is_ahead && amended.state == SessionState::WindowClosed {
        amended.state = SessionState::Collecting;
    }
    let before = session.record.window_closes_at;
    // Where there is none, one is set: otherwise the session would never end.
    let is_shortened = before.is_some_and(|before| deadline.is_none_or(|after| after < before));
    let is_other = is_shortened || amended.quorum != session.record.quorum;
    amended.question = patch.question.apply(&amended.question);
    let asks = amended.question != session.record.question;
    let act = match (moves, asks) {
        (true, _) => SessionAct::Deadline,
        (false, true) => SessionAct::Question,
        (false, false) => SessionAct::Quorum,
    };
    let is_news = is_news(session, &amended, by);
    Ok(is_news.then(|| {
        let change = SessionChange { none_filed_after, ..change(session, amended, act, by) };
        let change = if asks { change.before_takes() } else { change };
        if is_other { change.before_sealed_takes(&session.record) } else { change }
    }))
}

/// Checks that a roster lists only `members`: those that are active, or were. `field` is its name in the
/// request.
///
/// # Errors
/// [`Refusal::InvalidRequest`] with the first entry that is no member.
pub fn check_roster(
    roster: &Roster,
    members: &[Arc<Member>],
    field: &'static str,
) -> Result<(), Refusal> {
    let members: HashSet<_> = members.iter().map(|member| &member.id).collect();
    let stranger = roster.entries().iter().find(|entry| !members.contains(&entry.member_id));
    let Some(stranger) = stranger else { return Ok(()) };
    let rule = format!("lists {:?}, who is no member", stranger.member_id.as_str());
    Err(Refusal::InvalidRequest(Invalid::new(field, rule)))
}

/// Checks that a session is not yet aggregated. Its brief, and everything that the snapshot depends
/// on, may change only until then.
///
/// # Errors
/// [`Refusal::AlreadyAggregated`] otherwise.
pub(super) fn before_aggregation(session: &Session) -> Result<(), Refusal> {
    match session.state {
        SessionState::Aggregated | SessionState::Published => Err(Refusal::AlreadyAggregated),
        SessionState::Scheduled | SessionState::Collecting | SessionState::WindowClosed => Ok(()),
    }
}

/// Sets the roster of a session. It can be set only once, and not once there are sealed takes.
///
/// # Errors
/// [`Refusal::AlreadyAggregated`]; [`Refusal::SessionIsPractice`]; [`Refusal::RosterFrozen`] when it has one.
pub fn freeze_roster(
    session: &Versioned<Session>,
    roster: &Roster,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    before_aggregation(&session.record)?;
    not_practice(&session.record)?;
    if session.record.roster.is_some() {
        return Err(Refusal::RosterFrozen);
    }
    let roster = Some(roster.clone());
    let frozen = Session { roster, ..Session::clone(&session.record) };
    Ok(change(session, frozen, SessionAct::Roster, by).before_sealed_takes(&session.record))
}

/// Excuses a listed member, or expects it again. `None` when nothing changes and the operator left
/// no note.
///
/// # Errors
/// [`Refusal::AlreadyAggregated`]; [`Refusal::NoRoster`] without a roster, [`Refusal::NotFound`]
/// when the member is not on it.
pub fn excuse(
    session: &Versioned<Session>,
    member: &MemberId,
    excused: bool,
    by: &Attribution,
) -> Result<Option<SessionChange>, Refusal> {
    before_aggregation(&session.record)?;
    let mut changed = Session::clone(&session.record);
    let roster = changed.roster.as_mut().ok_or(Refusal::NoRoster)?;
    let entry = roster.entry_mut(member).ok_or(Refusal::NotFound(Resource::RosterMember))?;
    entry.excused = excused;
    if !is_news(session, &changed, by) {
        return Ok(None);
    }
    let changed = after_act(changed);
    let act = log::excused(&changed, member, excused, by);
    let is_other = changed.roster != session.record.roster;
    let change = logged_as(act, session, changed);
    Ok(Some(if is_other { change.before_sealed_takes(&session.record) } else { change }))
}

/// Withdraws a session, in any state: it is as if it had never been convened. A guard of the commit
/// checks that no take was filed in it.
///
/// # Errors
/// [`Refusal::SessionIsVoid`]: the mark is not undone.
pub fn withdraw(session: &Versioned<Session>, by: &Attribution) -> Result<SessionChange, Refusal> {
    not_void(&session.record)?;
    let last = Session::clone(&session.record);
    let act = log::session_changed(SessionAct::Withdrawn, &after_act(last.clone()), by);
    Ok(SessionChange { withdrawn: true, ..logged_as(act, session, last) }.before_takes())
}

/// Records the outcome of a session, in place of an earlier one. Its snapshot stays as it is.
///
/// # Errors
/// [`Refusal::InvalidRequest`] when the value is not on the scale of its stances; [`Refusal::SessionIsPractice`] and
/// [`Refusal::SessionIsVoid`]: such a session counts for nothing; [`Refusal::SessionIsOpen`] unless its deadline has passed; [`Refusal::SessionIs`] unless it is aggregated.
pub fn record_outcome(
    session: &Versioned<Session>,
    outcome: &OutcomeDraft,
    now: Timestamp,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    let record = &session.record;
    outcome.check(record.declaration.scale()).map_err(Refusal::InvalidRequest)?;
    if record.practice {
        return Err(Refusal::SessionIsPractice);
    }
    if record.voided.is_some() {
        return Err(Refusal::SessionIsVoid);
    }
    if takes_may_come(record.window_closes_at, now) {
        return Err(Refusal::SessionIsOpen);
    }
    if record.state < SessionState::Aggregated {
        return Err(Refusal::SessionIs(record.state));
    }
    let outcome = Some(outcome.recorded(now));
    let decided = Session { outcome, ..Session::clone(record) };
    Ok(change(session, decided, SessionAct::Outcome, by))
}

/// Whether the record changes, or the operator left a note to be logged.
fn is_news(judged: &Versioned<Session>, session: &Session, by: &Attribution) -> bool {
    *session != *judged.record || by.note.is_some()
}

fn change(
    judged: &Versioned<Session>,
    session: Session,
    act: SessionAct,
    by: &Attribution,
) -> SessionChange {
    let session = after_act(session);
    logged_as(log::session_changed(act, &session, by), judged, session)
}

/// Returns the session with the version that it has after one more act.
pub fn after_act(session: Session) -> Session {
    Session { version: session.version.saturating_add(1), ..session }
}

fn logged_as(act: Act, judged: &Versioned<Session>, session: Session) -> SessionChange {
    SessionChange { acts: vec![act], ..unlogged(judged, session) }
}

/// A change without an entry so far.
fn unlogged(judged: &Versioned<Session>, session: Session) -> SessionChange {
    let (takes, none_filed_after, withdrawn, opens) = (None, None, false, false);
    let (expected, acts) = (judged.version, Vec::new());
    let takes_refusal = Refusal::TakesSealed;
    SessionChange {
        session,
        expected,
        takes,
        takes_refusal,
        none_filed_after,
        withdrawn,
        acts,
        opens,
    }
}
