//! What comes next for a session, and who does it (API.md, 7.9).

use serde::{Deserialize, Serialize};

use super::{Steps, takes_may_come};
use crate::domain::{Session, SessionState, Timestamp};

/// What is done to a session next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum StepAct {
    /// Its window closes.
    Close,
    /// It is aggregated.
    Aggregate,
    /// It is published.
    Publish,
}

impl StepAct {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Aggregate => "aggregate",
            Self::Publish => "publish",
        }
    }
}

/// Who does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum StepBy {
    /// The server itself.
    Schedule,
    /// An operator.
    #[default]
    Operator,
}

impl StepBy {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Operator => "operator",
        }
    }
}

/// The next step of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct NextStep {
    /// What is done.
    pub act: StepAct,
    /// When, if that is known.
    pub at: Option<Timestamp>,
    /// Who does it.
    pub by: StepBy,
}

/// Returns who computes the result of a session once its window is over. `steps` are those of the server.
pub(crate) fn result_by(steps: Steps, session: &Session) -> StepBy {
    match steps.aggregate && session.window_closes_at.is_some() {
        true => StepBy::Schedule,
        false => StepBy::Operator,
    }
}

/// Returns what comes next for a session; `None` once it is published or voided. `steps` are those of the server.
pub(crate) fn next_step(steps: Steps, session: &Session, now: Timestamp) -> Option<NextStep> {
    let by = |is_scheduled: bool| if is_scheduled { StepBy::Schedule } else { StepBy::Operator };
    let deadline = session.window_closes_at;
    Some(match session.state {
        SessionState::Scheduled | SessionState::Collecting => {
            let is_by_itself = session.state == SessionState::Collecting || session.finish;
            let is_by_itself = is_by_itself && deadline.is_some();
            NextStep { act: StepAct::Close, at: deadline, by: by(is_by_itself) }
        }
        SessionState::WindowClosed => {
            let at = deadline.filter(|_| takes_may_come(deadline, now));
            let is_scheduled = steps.aggregate && deadline.is_some();
            NextStep { act: StepAct::Aggregate, at, by: by(is_scheduled) }
        }
        SessionState::Aggregated if session.voided.is_some() => return None,
        SessionState::Aggregated => {
            NextStep { act: StepAct::Publish, at: None, by: by(steps.publish) }
        }
        SessionState::Published => return None,
    })
}
