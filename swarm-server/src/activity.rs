//! Tracks whether a connection is waiting for its client or working on a request, and since when.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task;
use tokio::time::Instant;

/// The shared state of a connection. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    phase: Phase,
    /// To whom to report the next wait.
    report: Option<WaitReport>,
}

/// Since when a connection has been waiting for its client, and its task.
pub(crate) type Wait = (Instant, task::Id);

/// Where to report that a connection waits.
#[derive(Clone, Debug)]
pub(crate) struct WaitReport {
    pub(crate) task: task::Id,
    pub(crate) to: Sender<Wait>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Waiting for the client to send a request or the rest of a body, or to read its answer.
    Waiting { since: Instant },
    /// Working on a request.
    Working { since: Instant },
    /// The connection is being closed.
    Closing,
}

impl Activity {
    /// The state of a connection that was just accepted.
    pub(crate) fn new() -> Self {
        let phase = Phase::Waiting { since: Instant::now() };
        Self(Arc::new(Mutex::new(State { phase, report: None })))
    }

    /// Records that the head of a request has arrived. Returns false if the connection is already being
    /// closed, so that the answer could not be sent.
    pub(crate) fn start_request(&self) -> bool {
        let mut state = self.state();
        if matches!(state.phase, Phase::Closing) {
            return false;
        }
        state.phase = Phase::Working { since: Instant::now() };
        true
    }

    /// Records that the client has to read the answer, or more of it, or to send the next request.
    pub(crate) fn wait_for_client(&self) {
        self.change(|_| Phase::Waiting { since: Instant::now() });
    }

    /// Records that the client has to send more of its body. The wait counts from the start of the
    /// request, so that sending slowly gains no time.
    pub(crate) fn wait_for_body(&self) {
        self.change(|since| Phase::Waiting { since });
    }

    /// Records that more of the body has arrived, or its end.
    pub(crate) fn resume(&self) {
        self.change(|since| Phase::Working { since });
    }

    /// Since when the connection has been waiting for its client. If it is working, its next wait is
    /// reported, once.
    pub(crate) fn waiting_since(&self, report: impl FnOnce() -> WaitReport) -> Option<Instant> {
        let mut state = self.state();
        match state.phase {
            Phase::Waiting { since } => Some(since),
            Phase::Working { .. } => {
                state.report.get_or_insert_with(report);
                None
            }
            Phase::Closing => None,
        }
    }

    /// Marks the connection as closing, unless it is working on a request. Returns whether it did.
    pub(crate) fn close_if_waiting(&self) -> bool {
        let mut state = self.state();
        let waiting = matches!(state.phase, Phase::Waiting { .. });
        if waiting {
            state.phase = Phase::Closing;
        }
        waiting
    }

    fn change(&self, next: impl FnOnce(Instant) -> Phase) {
        let mut state = self.state();
        let (Phase::Waiting { since } | Phase::Working { since }) = state.phase else { return };
        state.phase = next(since);
        if let Phase::Waiting { since } = state.phase
            && let Some(WaitReport { task, to }) = state.report.take()
        {
            // Nobody listens once the server stops.
            let _ = to.send((since, task));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
