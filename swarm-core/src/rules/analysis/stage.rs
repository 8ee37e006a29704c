//! How far a session has come, by its state and its deadline together.

use crate::domain::{SessionState, Timestamp};
use crate::rules::takes_may_come;

/// How far a session has come. The state alone does not say it: takes are accepted until the deadline in
/// every state (API.md, 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Planned; takes are accepted already.
    Scheduled,
    /// Takes are collected.
    Open,
    /// The operator ended the collection, but the deadline has not passed: takes are still accepted.
    Closing,
    /// No more takes are accepted, and there is no snapshot yet.
    AwaitingResult,
    /// The snapshot is written, but not published. Later takes do not count.
    Aggregated,
    /// The result is published. Later takes do not count.
    Published,
}

/// The stage of a session in this state and with this deadline.
pub fn stage(state: SessionState, deadline: Option<Timestamp>, now: Timestamp) -> Stage {
    let accepts = takes_may_come(deadline, now);
    match state {
        SessionState::Published => Stage::Published,
        SessionState::Aggregated => Stage::Aggregated,
        SessionState::Scheduled if accepts => Stage::Scheduled,
        SessionState::Collecting if accepts => Stage::Open,
        SessionState::WindowClosed if accepts => Stage::Closing,
        SessionState::Scheduled | SessionState::Collecting | SessionState::WindowClosed => {
            Stage::AwaitingResult
        }
    }
}

impl Stage {
    /// Whether a take filed now would count.
    pub fn takes_count(self) -> bool {
        matches!(self, Self::Scheduled | Self::Open | Self::Closing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stage_follows_from_state_and_deadline() {
        use SessionState::{Aggregated, Collecting, Published, Scheduled, WindowClosed};
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        for (state, ahead, passed) in [
            (Scheduled, Stage::Scheduled, Stage::AwaitingResult),
            (Collecting, Stage::Open, Stage::AwaitingResult),
            (WindowClosed, Stage::Closing, Stage::AwaitingResult),
            (Aggregated, Stage::Aggregated, Stage::Aggregated),
            (Published, Stage::Published, Stage::Published),
        ] {
            assert_eq!(stage(state, None, at(5)), ahead, "{state}: no deadline");
            assert_eq!(stage(state, Some(at(5)), at(5)), ahead, "{state}: at the deadline");
            assert_eq!(stage(state, Some(at(4)), at(5)), passed, "{state}: after it");
        }
    }
}
