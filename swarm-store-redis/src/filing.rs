//! Files takes. Takes that arrive at the same time are committed in batches.

use std::iter::zip;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::StoreError;
use swarm_core::domain::Seq;
use swarm_core::rules::Filing;
use swarm_core::store::Result;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::encoded_take::EncodedTake;
use crate::group_commit::{Calls, WaitingTake};
use crate::scripts;
use crate::tenant::TenantStore;

/// Longest wait for the previous batch: longer than a call over a local network takes.
const MAX_BATCH_WAIT: Duration = Duration::from_millis(2);

impl TenantStore {
    /// Commits a take, in a batch with others that are waiting; returns its outcome.
    pub(crate) async fn commit_take(&self, filing: &Filing) -> Result<String> {
        // If another log begins before the take is sent, the take must be judged again.
        let seen = self.seen.position();
        let log = (seen.size > Seq(0)).then_some(seen.log);
        let take = Arc::new(EncodedTake::new(filing, log));
        let (outcome, calls) = self.shared.group_commit.add(Arc::clone(&take));
        if let Some(calls) = calls {
            // In a task of its own: the other takes of the batch must not depend on this caller being polled.
            tokio::spawn(self.clone().make_calls(calls));
        }
        match outcome.await {
            Ok(outcome) => outcome,
            // The batch failed or was never sent, or this take alone could not be written. Retry the take alone: the
            // script recognizes its attempt.
            Err(_) => self.commit_batch(&[&take]).await,
        }
    }

    /// Sends batches as long as takes are waiting.
    async fn make_calls(self, mut calls: Calls) {
        loop {
            // Lets takes that are ready join the batch.
            yield_now().await;
            let takes = calls.next();
            if takes.is_empty() {
                return;
            }
            let mut call = Box::pin(self.clone().send_batch(takes));
            if timeout(MAX_BATCH_WAIT, &mut call).await.is_err() {
                // The batch continues in the background; only its own takes wait for it.
                tokio::spawn(call);
            }
        }
    }

    /// Commits a batch and sends each caller the outcome of its take. If the call fails, or its answer does not have one
    /// outcome per take, the senders of a batch of several are dropped, and each caller retries alone.
    async fn send_batch(self, mut takes: Vec<WaitingTake>) {
        takes.sort_by(|one, other| one.take.of_session.cmp(&other.take.of_session));
        let encoded: Vec<_> = takes.iter().map(|it| &*it.take).collect();
        match self.commit_batch(&encoded).await {
            Ok(outcomes) => {
                let outcomes: Vec<_> = outcomes.split('\n').collect();
                if outcomes.len() != takes.len() {
                    return;
                }
                let known = zip(takes, outcomes).filter(|(_, outcome)| !outcome.is_empty());
                known.for_each(|(take, outcome)| drop(take.caller.send(Ok(outcome.to_owned()))));
            }
            Err(error) => {
                if let Ok([take]) = <[_; 1]>::try_from(takes) {
                    drop(take.caller.send(Err(error)));
                }
            }
        }
    }

    /// Commits takes in one call; returns a line per take, empty for a take that could not be written while others could.
    /// Adjacent takes of one session share its arguments.
    async fn commit_batch(&self, takes: &[&EncodedTake]) -> Result<String> {
        let seen = self.seen.position();
        if takes.iter().any(|take| take.log.is_some_and(|log| log < seen.log)) {
            return Err(StoreError::contended("file", "another log has begun"));
        }
        // The first take of each session, and the number of its takes.
        let sessions: Vec<_> = takes
            .chunk_by(|one, other| one.of_session == other.of_session)
            .filter_map(|takes| Some((takes.first()?, takes.len())))
            .collect();
        let lists: Vec<_> =
            sessions.iter().map(|(take, _)| self.keys.session_takes(take.session)).collect();
        let mut script = self.call(&scripts::FILE, lists);
        for (take, count) in &sessions {
            script.args(take.of_session.rest());
            script.arg(count);
        }
        sessions.iter().for_each(|(take, _)| script.args(take.of_session.fields()));
        takes.iter().for_each(|take| script.args(take.own.fields()));
        takes.iter().for_each(|take| script.args(take.own.rest()));
        self.commit_at("file", script, seen).await
    }
}
