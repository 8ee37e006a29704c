//! Group commit: takes of a tenant that wait are committed in one call, for stores that a call costs a round trip.
//!
//! The wait for the disk is most of the time of a commit, and the call is much of its cost. The next batch is sent while
//! the one before is in progress, so that the store need not wait for it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::reply::{Reply, reply, yield_now};
use super::{LogPosition, Result, SeenLog, StoreError};
use crate::domain::Seq;

/// The most calls in progress at a time.
const MAX_CALLS: usize = 2;

/// A tenant's part of a store that commits takes in batches.
#[async_trait]
pub trait BatchCommit: Clone + Send + Sync + 'static {
    /// A take, with its guard.
    type Take: Send + Sync + 'static;
    /// The outcome of a commit.
    type Outcome: Send + 'static;

    /// Whether a take may be committed in one call with these, which are in order of arrival.
    fn fits(batch: &[&Self::Take], next: &Self::Take) -> bool;

    /// The log that was seen of the tenant.
    fn seen(&self) -> &SeenLog;

    /// Commits takes in one call, if the log continues from `seen`; returns the outcome of each, in their order. `None`
    /// where a take could not be written while others could: it is then sent alone. So is each take of several after an
    /// error, so a store must recognize an attempt.
    async fn commit_batch(
        &self,
        takes: &[&Self::Take],
        seen: &LogPosition,
    ) -> Result<Vec<Option<Result<Self::Outcome>>>>;
}

/// The takes of one tenant that wait, shared by all of its handles.
pub struct GroupCommit<S: BatchCommit>(Mutex<Group<S>>);

struct Group<S: BatchCommit> {
    /// In order of arrival.
    waiting: Vec<Waiting<S>>,
    /// The number of [`Calls`] in progress.
    calls: usize,
}

/// A take that waits to be sent.
struct Waiting<S: BatchCommit> {
    take: Arc<S::Take>,
    /// The number of the log that it was judged by, if one was seen.
    log: Option<u64>,
    reply: Reply<Result<S::Outcome>>,
}

impl<S: BatchCommit> GroupCommit<S> {
    /// Commits a take, in one call with others that are waiting; returns its outcome. `spawn` runs a task on the runtime
    /// of the caller: the other takes must not depend on this caller being polled.
    ///
    /// # Errors
    /// The error of the call; [`StoreErrorKind::Contended`](super::StoreErrorKind::Contended) when another log began before the
    /// take was sent.
    pub async fn commit(
        self: &Arc<Self>,
        store: &S,
        take: S::Take,
        spawn: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>),
    ) -> Result<S::Outcome> {
        let seen = store.seen().position();
        let log = (seen.size > Seq(0)).then_some(seen.log);
        let (take, (reply, answer)) = (Arc::new(take), reply());
        let waiting = Waiting { take: Arc::clone(&take), log, reply };
        if let Some(calls) = self.add(waiting) {
            spawn(Box::pin(calls.make(store.clone())));
        }
        if let Some(outcome) = answer.await {
            return outcome;
        }
        // The call failed, or was never made.
        let seen = store.seen().position();
        if is_outdated(log, &seen) {
            return Err(another_log());
        }
        let outcome = store.commit_batch(&[&take], &seen).await?.pop().flatten();
        outcome.unwrap_or_else(|| Err(StoreError::corrupt("file", "no outcome of a take")))
    }

    /// Adds a take. Returns the [`Calls`] that the caller must have made, unless enough others are in progress.
    fn add(self: &Arc<Self>, take: Waiting<S>) -> Option<Calls<S>> {
        let mut group = self.lock();
        let starts = group.calls < MAX_CALLS;
        group.waiting.push(take);
        group.calls += usize::from(starts);
        starts.then(|| Calls { group: Arc::clone(self), have_ended: false })
    }

    fn lock(&self) -> MutexGuard<'_, Group<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: BatchCommit> Default for GroupCommit<S> {
    fn default() -> Self {
        Self(Mutex::new(Group { waiting: Vec::new(), calls: 0 }))
    }
}

impl<S: BatchCommit> std::fmt::Debug for GroupCommit<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let group = self.lock();
        let (waiting, calls) = (group.waiting.len(), group.calls);
        f.debug_struct("GroupCommit").field("waiting", &waiting).field("calls", &calls).finish()
    }
}

/// A sequence of calls, one after another until no take is waiting.
struct Calls<S: BatchCommit> {
    group: Arc<GroupCommit<S>>,
    have_ended: bool,
}

impl<S: BatchCommit> Calls<S> {
    async fn make(mut self, store: S) {
        loop {
            // Lets takes that are ready join.
            yield_now().await;
            let seen = store.seen().position();
            let Some(takes) = self.next(&seen) else { return };
            let batch: Vec<_> = takes.iter().map(|waiting| &*waiting.take).collect();
            if batch.is_empty() {
                continue;
            }
            match store.commit_batch(&batch, &seen).await {
                Ok(outcomes) => {
                    for (take, outcome) in takes.into_iter().zip(outcomes) {
                        if let Some(outcome) = outcome {
                            take.reply.send(outcome);
                        }
                    }
                }
                // The replies of several are dropped.
                Err(error) => {
                    if let Ok([take]) = <[_; 1]>::try_from(takes) {
                        take.reply.send(Err(error));
                    }
                }
            }
        }
    }

    /// The takes of the next call, oldest first. `None` when none is waiting, which ends the sequence. Skips takes whose
    /// caller is gone, and those that were judged by a log before the one seen.
    fn next(&mut self, seen: &LogPosition) -> Option<Vec<Waiting<S>>> {
        let mut group = self.group.lock();
        if group.waiting.is_empty() {
            group.calls -= 1;
            self.have_ended = true;
            return None;
        }
        let mut takes: Vec<Waiting<S>> = Vec::new();
        for waiting in std::mem::take(&mut group.waiting) {
            if waiting.reply.is_abandoned() {
                continue;
            }
            if is_outdated(waiting.log, seen) {
                waiting.reply.send(Err(another_log()));
                continue;
            }
            let batch: Vec<_> = takes.iter().map(|it| &*it.take).collect();
            let fits = S::fits(&batch, &waiting.take);
            if fits { takes.push(waiting) } else { group.waiting.push(waiting) }
        }
        Some(takes)
    }
}

impl<S: BatchCommit> Drop for Calls<S> {
    /// If the sequence is cancelled and no other is in progress, drops the takes that wait: their callers send them alone.
    fn drop(&mut self) {
        if self.have_ended {
            return;
        }
        let mut group = self.group.lock();
        group.calls -= 1;
        let dropped =
            if group.calls == 0 { std::mem::take(&mut group.waiting) } else { Vec::new() };
        drop(group);
        drop(dropped);
    }
}

fn is_outdated(judged: Option<u64>, seen: &LogPosition) -> bool {
    judged.is_some_and(|judged| judged < seen.log)
}

fn another_log() -> StoreError {
    StoreError::contended("file", "another log has begun")
}
