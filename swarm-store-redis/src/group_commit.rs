//! Group commit: the takes of a tenant that wait are committed in batches.
//!
//! The script call itself is much of what a take costs Redis. A batch is sent when no other is in flight, or when it
//! is full, as Nagle's algorithm does for small TCP segments.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swarm_core::store::Result;
use tokio::sync::oneshot;

use crate::encoded_take::EncodedTake;

/// Maximum takes in a batch; a full batch is sent at once. Larger batches hardly reduce the cost of a take.
const MAX_BATCH: usize = 32;

/// Size in bytes at which a batch is full, that of 32 typical takes. Redis serves no other client while it runs a batch.
const MAX_BATCH_BYTES: usize = 64 * 1024;

/// The waiting takes of a tenant, and the number of [`Calls`] in progress.
#[derive(Default)]
pub(crate) struct GroupCommit(Mutex<Group>);

#[derive(Default)]
struct Group {
    calls: usize,
    /// In order of arrival.
    waiting: Vec<WaitingTake>,
}

/// A take that waits to be sent.
pub(crate) struct WaitingTake {
    pub(crate) take: Arc<EncodedTake>,
    /// Receives the outcome. If it is dropped, the outcome is unknown.
    pub(crate) caller: oneshot::Sender<Result<String>>,
}

/// A sequence of batches, sent one after another until no take is waiting.
pub(crate) struct Calls {
    group: Arc<GroupCommit>,
    stage: Stage,
}

#[derive(PartialEq, Eq)]
enum Stage {
    First,
    Later,
    Ended,
}

impl GroupCommit {
    /// Adds a waiting take. Returns the [`Calls`] that the caller must drive, unless others already in progress will send
    /// it.
    pub(crate) fn add(
        self: &Arc<Self>,
        take: Arc<EncodedTake>,
    ) -> (oneshot::Receiver<Result<String>>, Option<Calls>) {
        let (caller, outcome) = oneshot::channel();
        let mut group = self.lock();
        group.waiting.push(WaitingTake { take, caller });
        let starts = group.calls == 0 || is_full(&group.waiting);
        group.calls += usize::from(starts);
        let calls = || Calls { group: Arc::clone(self), stage: Stage::First };
        (outcome, starts.then(calls))
    }

    fn lock(&self) -> MutexGuard<'_, Group> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// The takes of the next batch, oldest first. Empty when none is waiting, which ends the sequence. Skips takes whose
    /// caller is gone.
    pub(crate) fn next(&mut self) -> Vec<WaitingTake> {
        let mut takes = Vec::new();
        let mut group = self.group.lock();
        // After the first batch, waiting takes are left to other calls in progress.
        if self.stage == Stage::First || group.calls == 1 {
            for waiting in std::mem::take(&mut group.waiting) {
                if waiting.caller.is_closed() {
                    continue;
                }
                let fits = !is_full(&takes)
                    && takes.iter().all(|other| waiting.take.is_compatible(&other.take));
                if fits { takes.push(waiting) } else { group.waiting.push(waiting) }
            }
        }
        self.stage = Stage::Later;
        if takes.is_empty() {
            group.calls -= 1;
            self.stage = Stage::Ended;
        }
        takes
    }
}

/// Whether these are a full batch.
fn is_full(takes: &[WaitingTake]) -> bool {
    let bytes = || takes.iter().map(|it| it.take.len()).sum::<usize>();
    takes.len() >= MAX_BATCH || bytes() >= MAX_BATCH_BYTES
}

impl Drop for Calls {
    /// If the sequence is cancelled and no other is in progress, drops the waiting takes: their callers retry alone.
    fn drop(&mut self) {
        if self.stage == Stage::Ended {
            return;
        }
        let mut group = self.group.lock();
        group.calls -= 1;
        if group.calls == 0 {
            group.waiting.clear();
        }
    }
}
