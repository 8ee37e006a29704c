//! The changes of a session that its state admits, and the one that is due: what an operator is offered.
//!
//! A change is judged by its own rule all the same. A change that is not offered need not be refused: it may make no
//! difference.

use super::{NextStep, StepAct, StepBy, Steps, may_move_deadline, next_step, takes_may_come};
use crate::domain::{Session, SessionState, Timestamp};

/// A change of a session by an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionStep {
    /// Its brief is published.
    PublishBrief,
    /// Its brief is replaced.
    ReplaceBrief,
    /// A scheduled session is shown as open.
    Open,
    /// A closed session collects takes again.
    OpenAgain,
    /// Its window ends.
    Close,
    /// It is aggregated.
    Aggregate,
    /// It is published.
    Publish,
    /// Its outcome is recorded, or annulled.
    Outcome,
    /// Its deadline is moved or lifted.
    Deadline,
    /// Its quorum is set.
    Quorum,
    /// Its question is changed.
    Question,
    /// It is withdrawn.
    Withdraw,
    /// It is voided.
    Void,
    /// Its roster is frozen, or a listed member is excused.
    Roster,
}

/// A session, with what decides on its changes.
#[derive(Clone, Copy, Debug)]
pub struct SteppedSession<'a> {
    /// The session.
    pub session: &'a Session,
    /// Whether its brief is published.
    pub has_brief: bool,
    /// Whether a take is on file in it.
    pub has_takes: bool,
    /// What the server does with it.
    pub steps: Steps,
    /// The time of the question.
    pub now: Timestamp,
}

impl SteppedSession<'_> {
    /// Returns the changes that the state of the session admits, in the order of its life.
    pub fn admitted(&self) -> Vec<SessionStep> {
        use SessionStep as Step;
        let Self { session, has_brief, has_takes, .. } = *self;
        let state = session.state;
        let is_open = self.is_before_result();
        let is_standing = session.voided.is_none();
        let admitted = [
            (Step::PublishBrief, is_open && !has_brief),
            (Step::ReplaceBrief, is_open && has_brief && !has_takes),
            (Step::Open, state == SessionState::Scheduled),
            (Step::OpenAgain, state == SessionState::WindowClosed && session.opened_at.is_none()),
            (Step::Close, state < SessionState::WindowClosed || is_open && self.is_accepting()),
            (Step::Aggregate, is_open),
            (Step::Publish, state == SessionState::Aggregated && is_standing),
            (Step::Outcome, !is_open && !self.is_accepting() && session.counts()),
            (Step::Deadline, may_move_deadline(session) && is_standing),
            (Step::Quorum, is_open && !session.practice),
            (Step::Question, !has_takes && is_standing),
            (Step::Withdraw, !has_takes && is_standing),
            (Step::Void, !is_open && session.counts()),
            (Step::Roster, is_open && !session.practice),
        ];
        admitted.into_iter().filter_map(|(step, is_admitted)| is_admitted.then_some(step)).collect()
    }

    /// Returns the change that an operator makes next, if one is due.
    pub fn due(&self) -> Option<SessionStep> {
        let Self { session, has_brief, steps, now, .. } = *self;
        let is_ahead = |at: Option<_>| at.is_some() && takes_may_come(at, now);
        let due = match next_step(steps, session, now) {
            Some(NextStep { by: StepBy::Schedule, .. }) | None => None,
            Some(NextStep { at, .. }) if is_ahead(at) => None,
            Some(NextStep { act: StepAct::Aggregate, .. }) => Some(SessionStep::Aggregate),
            Some(NextStep { act: StepAct::Publish, .. }) => Some(SessionStep::Publish),
            // Without a deadline it is closed once its members could read the brief.
            Some(NextStep { act: StepAct::Close, at, .. }) => {
                (at.is_some() || has_brief).then_some(SessionStep::Close)
            }
        };
        let is_without_brief = self.is_before_result() && !has_brief && self.is_accepting();
        let is_resolved = session.question.resolves_at.is_some_and(|at| at <= now);
        due.or_else(|| is_without_brief.then_some(SessionStep::PublishBrief))
            .or_else(|| (is_resolved && session.outcome.is_none()).then_some(SessionStep::Outcome))
    }

    /// Whether takes may still come.
    pub fn is_accepting(&self) -> bool {
        takes_may_come(self.session.window_closes_at, self.now)
    }

    fn is_before_result(&self) -> bool {
        self.session.state < SessionState::Aggregated
    }
}
