//! The rules for changes of a session: its state, deadline, quorum and roster (API.md, 7.3).

use std::collections::HashSet;
use std::sync::Arc;

use super::log::{self, Act};
use super::{Refusal, Resource, Versioned, aggregate};
use crate::domain::{
    Attribution, Invalid, Member, MemberId, Roster, Session, SessionAct, SessionDraft, SessionId,
    SessionPatch, SessionState, Take, Timestamp, Version,
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

/// A change of an existing session. Its id, day, subject and time of convening never change.
#[derive(Clone, Debug)]
pub struct SessionChange {
    /// The complete new record.
    pub session: Session,
    /// The version that was judged.
    pub expected: Version,
    /// Guard: the number of takes, counting all revisions.
    pub takes: Option<usize>,
    /// Guard: no take may have been filed after this time.
    pub none_filed_after: Option<Timestamp>,
    /// Whether the record is removed instead of written; `session` is what it was last.
    pub withdrawn: bool,
    /// Its entry in the log.
    pub act: Act,
}

/// Moves a session to another state: forward, or back from window_closed to collecting; published
/// only from aggregated. To aggregated, which writes a snapshot, it goes by an [`Aggregation`].
///
/// # Errors
/// [`Refusal::SessionIs`] when its state does not allow the transition.
pub fn advance(
    session: &Versioned<Session>,
    to: SessionState,
    now: Timestamp,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    use SessionState::{Aggregated, Collecting, Published, WindowClosed};
    let from = session.record.state;
    let allowed = match (from, to) {
        (WindowClosed, Collecting) | (Aggregated, Published) => true,
        (_, Published | Aggregated) => false,
        _ => from < to,
    };
    if !allowed {
        return Err(Refusal::SessionIs(from));
    }
    let mut moved = Session { state: to, ..Session::clone(&session.record) };
    moved.published_at = moved.published_at.or((to == Published).then_some(now));
    Ok(change(session, moved, SessionAct::State, by))
}

/// The aggregation of a session, which a store judges within its commit: so it ends however fast
/// takes arrive meanwhile.
#[derive(Clone, Debug)]
pub struct Aggregation {
    /// Which session.
    pub session: SessionId,
    /// Who aggregates it, and why.
    pub by: Attribution,
}

impl Aggregation {
    /// Moves the session to aggregated, once, and writes the snapshot of `takes`, all takes of the
    /// session, with every revision. `now` is a time at which they were on file.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without a session; [`Refusal::SessionIs`] when it is aggregated.
    pub fn judge(
        &self,
        session: Option<&Versioned<Session>>,
        takes: &[Arc<Take>],
        now: Timestamp,
    ) -> Result<SessionChange, Refusal> {
        let session = session.ok_or(Refusal::NotFound(Resource::Session))?;
        let (from, state) = (session.record.state, SessionState::Aggregated);
        if from >= state {
            return Err(Refusal::SessionIs(from));
        }
        let snapshot = Some(Arc::new(aggregate(&session.record, takes, now)));
        let aggregated = Session { state, snapshot, ..Session::clone(&session.record) };
        let change = change(session, aggregated, SessionAct::State, &self.by);
        Ok(SessionChange { takes: Some(takes.len()), ..change })
    }
}

/// Whether a session is still `collecting` after its deadline.
pub fn is_due(session: &Session, now: Timestamp) -> bool {
    let collecting = session.state == SessionState::Collecting;
    collecting && session.window_closes_at.is_some_and(|deadline| now > deadline)
}

/// Moves a session that is [due](is_due) to `window_closed`.
pub fn close_if_due(session: &Versioned<Session>, now: Timestamp) -> Option<SessionChange> {
    let state = SessionState::WindowClosed;
    let closed = || Session { state, ..Session::clone(&session.record) };
    let by = &Attribution::SCHEDULE;
    is_due(&session.record, now).then(|| change(session, closed(), SessionAct::State, by))
}

/// Changes a session's deadline or quorum. A window that has closed opens again when its deadline
/// moves ahead or is cleared. A deadline may change in every state, but not to a time before a
/// stored take was filed; a guard of the commit checks that. So no take appears to be late. `None`
/// when nothing changes and the operator left no note.
///
/// # Errors
/// [`Refusal::AlreadyAggregated`] when the quorum would change after aggregation.
pub fn amend(
    session: &Versioned<Session>,
    patch: &SessionPatch,
    now: Timestamp,
    by: &Attribution,
) -> Result<Option<SessionChange>, Refusal> {
    let mut amended = Session::clone(&session.record);
    if let Some(quorum) = patch.quorum {
        before_aggregation(&session.record)?;
        amended.quorum = quorum;
    }
    let deadline = patch.window_closes_at.unwrap_or(amended.window_closes_at);
    let none_filed_after = patch.window_closes_at.flatten();
    amended.window_closes_at = deadline;
    let moves = deadline != session.record.window_closes_at;
    let is_ahead = deadline.is_none_or(|deadline| deadline >= now);
    if moves && is_ahead && amended.state == SessionState::WindowClosed {
        amended.state = SessionState::Collecting;
    }
    let act = if moves { SessionAct::Deadline } else { SessionAct::Quorum };
    let is_news = is_news(session, &amended, by);
    Ok(is_news.then(|| SessionChange { none_filed_after, ..change(session, amended, act, by) }))
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

/// Sets the roster of a session. It can be set only once.
///
/// # Errors
/// [`Refusal::AlreadyAggregated`]; [`Refusal::RosterFrozen`] when it has one.
pub fn freeze_roster(
    session: &Versioned<Session>,
    roster: &Roster,
    by: &Attribution,
) -> Result<SessionChange, Refusal> {
    before_aggregation(&session.record)?;
    if session.record.roster.is_some() {
        return Err(Refusal::RosterFrozen);
    }
    let roster = Some(roster.clone());
    let frozen = Session { roster, ..Session::clone(&session.record) };
    Ok(change(session, frozen, SessionAct::Roster, by))
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
    let act = log::excused(&changed, member, excused, by);
    let (session, expected) = (changed, session.version);
    let (takes, none_filed_after, withdrawn) = (None, None, false);
    Ok(Some(SessionChange { session, expected, takes, none_filed_after, withdrawn, act }))
}

/// Withdraws a session, in any state: it is as if it had never been convened. A guard of the commit
/// checks that no take was filed in it.
pub fn withdraw(session: &Versioned<Session>, by: &Attribution) -> SessionChange {
    let last = Session::clone(&session.record);
    let change = change(session, last, SessionAct::Withdrawn, by);
    SessionChange { takes: Some(0), withdrawn: true, ..change }
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
    let act = log::session_changed(act, &session, by);
    let (takes, none_filed_after, withdrawn) = (None, None, false);
    SessionChange { session, expected: judged.version, takes, none_filed_after, withdrawn, act }
}
