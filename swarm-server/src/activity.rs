//! Tracks whether a connection is waiting for its client or working on a request, and since when.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// The shared state of a connection. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Activity(Arc<Mutex<Phase>>);

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
        Self(Arc::new(Mutex::new(Phase::Waiting { since: Instant::now() })))
    }

    /// Records that the head of a request has arrived. Returns false if the connection is already being
    /// closed, so that the answer could not be sent.
    pub(crate) fn start_request(&self) -> bool {
        let mut phase = self.phase();
        if matches!(*phase, Phase::Closing) {
            return false;
        }
        *phase = Phase::Working { since: Instant::now() };
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

    /// Since when the connection has been waiting for its client, if it is.
    pub(crate) fn waiting_since(&self) -> Option<Instant> {
        match *self.phase() {
            Phase::Waiting { since } => Some(since),
            Phase::Working { .. } | Phase::Closing => None,
        }
    }

    /// Marks the connection as closing, unless it is working on a request. Returns whether it did.
    pub(crate) fn close_if_waiting(&self) -> bool {
        let mut phase = self.phase();
        let waiting = matches!(*phase, Phase::Waiting { .. });
        if waiting {
            *phase = Phase::Closing;
        }
        waiting
    }

    fn change(&self, next: impl FnOnce(Instant) -> Phase) {
        let mut phase = self.phase();
        if let Phase::Waiting { since } | Phase::Working { since } = *phase {
            *phase = next(since);
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
