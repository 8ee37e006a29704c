//! Whether a connection is waiting for its client or working on a request, and since when.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// What a connection is doing, as far as others have to know.
#[derive(Clone, Debug)]
pub(crate) struct Activity(Arc<Mutex<Phase>>);

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// For the client: to send its next request or the rest of a body, or to read its answer.
    Waiting { since: Instant },
    /// On a request.
    Working { since: Instant },
    /// The connection is being closed.
    Closing,
}

impl Activity {
    /// Of a connection that was accepted right now.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Phase::Waiting { since: Instant::now() })))
    }

    /// The head of a request has arrived. Returns false when the connection is already being
    /// closed, so that nobody would read the answer.
    pub(crate) fn start_request(&self) -> bool {
        let mut phase = self.phase();
        if matches!(*phase, Phase::Closing) {
            return false;
        }
        *phase = Phase::Working { since: Instant::now() };
        true
    }

    /// It is the client's turn: to read the answer, or more of it, and to ask again.
    pub(crate) fn wait_for_client(&self) {
        self.turn(|_| Phase::Waiting { since: Instant::now() });
    }

    /// The client has to send more of its body. It waits since the request began, so that nobody
    /// gains time by sending slowly.
    pub(crate) fn wait_for_body(&self) {
        self.turn(|since| Phase::Waiting { since });
    }

    /// More of the body is there, or its end.
    pub(crate) fn resume(&self) {
        self.turn(|since| Phase::Working { since });
    }

    /// Since when the connection waits for its client, if it does.
    pub(crate) fn waiting_since(&self) -> Option<Instant> {
        match *self.phase() {
            Phase::Waiting { since } => Some(since),
            Phase::Working { .. } | Phase::Closing => None,
        }
    }

    /// Closes it, unless it is working on a request. Returns whether it did.
    pub(crate) fn close_if_waiting(&self) -> bool {
        let mut phase = self.phase();
        let waiting = matches!(*phase, Phase::Waiting { .. });
        if waiting {
            *phase = Phase::Closing;
        }
        waiting
    }

    fn turn(&self, next: impl FnOnce(Instant) -> Phase) {
        let mut phase = self.phase();
        if let Phase::Waiting { since } | Phase::Working { since } = *phase {
            *phase = next(since);
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
