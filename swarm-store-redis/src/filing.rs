//! How takes are filed: those that come at the same time together.

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

/// How long takes wait for the end of a call of others at most: longer than one takes that has not far to go.
const PATIENCE: Duration = Duration::from_millis(2);

impl TenantStore {
    /// Commits a take, with others where some wait; returns its outcome.
    pub(crate) async fn commit_take(&self, filing: &Filing) -> Result<String> {
        // What was judged by the facts of a log is judged again where another begins before it is sent.
        let seen = self.seen.position();
        let log = (seen.size > Seq(0)).then_some(seen.log);
        let take = Arc::new(EncodedTake::new(filing, log));
        let (outcome, calls) = self.shared.group_commit.add(Arc::clone(&take));
        if let Some(calls) = calls {
            // A task of its own: those that go along must not wait until this caller is polled again.
            tokio::spawn(self.clone().make_calls(calls));
        }
        match outcome.await {
            Ok(outcome) => outcome,
            // The call in which it went with others failed, or was not made, or it alone could not be written. By itself it
            // ends as it would have without them: the script knows it again by its attempt.
            Err(_) => self.commit_together(&[&take]).await,
        }
    }

    /// Makes calls while takes wait for them.
    async fn make_calls(self, mut calls: Calls) {
        loop {
            // Takes that are ready to be filed come first, and go along.
            yield_now().await;
            let takes = calls.next();
            if takes.is_empty() {
                return;
            }
            let mut call = Box::pin(self.clone().tell(takes));
            if timeout(PATIENCE, &mut call).await.is_err() {
                // It goes on, and nobody waits for its end but its own takes.
                tokio::spawn(call);
            }
        }
    }

    /// Commits these takes, and tells each what came of it. Where the call fails, or answers what is no outcome for each,
    /// those that went together are told nothing.
    async fn tell(self, mut takes: Vec<WaitingTake>) {
        takes.sort_by(|one, other| one.take.of_session.cmp(&other.take.of_session));
        let encoded: Vec<_> = takes.iter().map(|it| &*it.take).collect();
        match self.commit_together(&encoded).await {
            Ok(outcomes) => {
                let outcomes: Vec<_> = outcomes.split('\n').collect();
                if outcomes.len() != takes.len() {
                    return;
                }
                let told = zip(takes, outcomes).filter(|(_, outcome)| !outcome.is_empty());
                told.for_each(|(take, outcome)| drop(take.caller.send(Ok(outcome.to_owned()))));
            }
            Err(error) => {
                if let Ok([take]) = <[_; 1]>::try_from(takes) {
                    drop(take.caller.send(Err(error)));
                }
            }
        }
    }

    /// Commits takes in one call; returns a line for each, which is empty where it could not be written and others could.
    /// Those of one session that stand side by side have it told once.
    async fn commit_together(&self, takes: &[&EncodedTake]) -> Result<String> {
        let seen = self.seen.position();
        if takes.iter().any(|take| take.log.is_some_and(|log| log < seen.log)) {
            return Err(StoreError::contended("file", "another log has begun"));
        }
        // Of each session its first take, and how many it has.
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
