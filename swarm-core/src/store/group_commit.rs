//! Group commit: transactions of a tenant that wait are committed in one call, for stores that a call costs a round trip.
//!
//! The wait for the disk is most of the time of a commit, and the call is much of its cost. The next batch is sent while
//! the one before is in progress, so that the store need not wait for it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use futures_channel::oneshot;

use super::{Result, StoreError};

/// The most calls in progress at a time.
const MAX_CALLS: usize = 2;

/// A tenant's part of a store that commits transactions in batches.
#[async_trait]
pub trait BatchCommit: Clone + Send + Sync + 'static {
    /// A transaction.
    type Transaction: Send + Sync + 'static;
    /// The outcome of a commit.
    type Outcome: Send + 'static;

    /// Whether a transaction may be committed in one call with these, which are in order of arrival.
    fn fits(batch: &[&Self::Transaction], next: &Self::Transaction) -> bool;

    /// Commits transactions in one call; returns the outcome of each, in their order. After an error each of several is sent alone, so
    /// a store must recognize one that was committed.
    async fn commit_batch(
        &self,
        batch: &[&Self::Transaction],
    ) -> Result<Vec<Result<Self::Outcome>>>;
}

/// The transactions of one tenant that wait, shared by all of its handles.
pub struct GroupCommit<S: BatchCommit>(Mutex<Group<S>>);

struct Group<S: BatchCommit> {
    /// In order of arrival.
    waiting: Vec<Waiting<S>>,
    /// The number of [`Calls`] in progress.
    calls: usize,
}

/// A transaction that waits to be sent.
struct Waiting<S: BatchCommit> {
    transaction: Arc<S::Transaction>,
    reply: oneshot::Sender<Result<S::Outcome>>,
}

impl<S: BatchCommit> GroupCommit<S> {
    /// Commits a transaction, in one call with others that are waiting; returns its outcome.
    /// `spawn` runs a task on the runtime of the caller: the other transactions must not depend on this caller being polled.
    ///
    /// # Errors
    /// The error of the call.
    pub async fn commit(
        self: &Arc<Self>,
        store: &S,
        transaction: S::Transaction,
        spawn: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>),
    ) -> Result<S::Outcome> {
        let (transaction, (reply, answer)) = (Arc::new(transaction), oneshot::channel());
        let waiting = Waiting { transaction: Arc::clone(&transaction), reply };
        if let Some(calls) = self.add(waiting) {
            spawn(Box::pin(calls.make(store.clone())));
        }
        let outcome = match answer.await {
            Ok(outcome) => Some(outcome),
            // The call failed, or was never made.
            Err(oneshot::Canceled) => store.commit_batch(&[&transaction]).await?.pop(),
        };
        outcome.unwrap_or_else(|| Err(StoreError::corrupt("commit", "no outcome")))
    }

    /// Adds a transaction. Returns the [`Calls`] that the caller must have made, unless enough others are in progress.
    fn add(self: &Arc<Self>, waiting: Waiting<S>) -> Option<Calls<S>> {
        let mut group = self.lock();
        let starts = group.calls < MAX_CALLS;
        group.waiting.push(waiting);
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

/// A sequence of calls, one after another until no transaction is waiting.
struct Calls<S: BatchCommit> {
    group: Arc<GroupCommit<S>>,
    have_ended: bool,
}

impl<S: BatchCommit> Calls<S> {
    async fn make(mut self, store: S) {
        loop {
            // Lets transactions that are ready join.
            yield_now().await;
            let Some(sent) = self.next() else { return };
            let batch: Vec<_> = sent.iter().map(|waiting| &*waiting.transaction).collect();
            if batch.is_empty() {
                continue;
            }
            match store.commit_batch(&batch).await {
                Ok(outcomes) => {
                    for (waiting, outcome) in sent.into_iter().zip(outcomes) {
                        let _ = waiting.reply.send(outcome);
                    }
                }
                // The replies of several are dropped.
                Err(error) => {
                    if let Ok([waiting]) = <[_; 1]>::try_from(sent) {
                        let _ = waiting.reply.send(Err(error));
                    }
                }
            }
        }
    }

    /// The transactions of the next call, oldest first. `None` when none is waiting, which ends the sequence. Skips those whose
    /// caller is gone.
    fn next(&mut self) -> Option<Vec<Waiting<S>>> {
        let mut group = self.group.lock();
        if group.waiting.is_empty() {
            group.calls -= 1;
            self.have_ended = true;
            return None;
        }
        let mut sent: Vec<Waiting<S>> = Vec::new();
        for waiting in std::mem::take(&mut group.waiting) {
            if waiting.reply.is_canceled() {
                continue;
            }
            let batch: Vec<_> = sent.iter().map(|it| &*it.transaction).collect();
            let fits = S::fits(&batch, &waiting.transaction);
            if fits { sent.push(waiting) } else { group.waiting.push(waiting) }
        }
        Some(sent)
    }
}

impl<S: BatchCommit> Drop for Calls<S> {
    /// If the sequence is cancelled and no other is in progress, drops the transactions that wait: their callers send them alone.
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

/// Lets the tasks that are ready run first.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
