//! How takes are filed: those that come at the same time together.

use std::iter::zip;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::StoreError;
use swarm_core::domain::Seq;
use swarm_core::proof::hex;
use swarm_core::rules::Filing;
use swarm_core::store::Result;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::codec;
use crate::group_commit::{Calls, EncodedTake, WaitingTake};
use crate::scripts;
use crate::sessions::on;
use crate::tenant::TenantStore;

/// How long takes wait for the end of a call of others at most: longer than one takes that has not far to go.
const PATIENCE: Duration = Duration::from_millis(2);

impl TenantStore {
    /// Commits a take, with others where some wait; returns its outcome.
    pub(crate) async fn commit_take(&self, filing: &Filing) -> Result<String> {
        // What was judged by the facts of a log is judged again where another begins before it is sent.
        let seen = self.seen.position();
        let log = (seen.size > Seq(0)).then_some(seen.log);
        let take = Arc::new(encoded(filing, log));
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
    async fn tell(self, takes: Vec<WaitingTake>) {
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
    async fn commit_together(&self, takes: &[&EncodedTake]) -> Result<String> {
        let seen = self.seen.position();
        if takes.iter().any(|take| take.log.is_some_and(|log| log < seen.log)) {
            return Err(StoreError::contended("file", "another log has begun"));
        }
        let lists: Vec<_> =
            takes.iter().map(|take| self.keys.session_takes(take.session)).collect();
        let mut script = self.call(&scripts::FILE, lists);
        takes.iter().for_each(|take| script.args(take.args().take(scripts::FIELDS)));
        takes.iter().for_each(|take| script.args(take.args().skip(scripts::FIELDS)));
        self.commit_at("file", script, seen).await
    }
}

/// What `file.lua` is told of a take that was judged by this log, in its order.
fn encoded(filing: &Filing, log: Option<u64>) -> EncodedTake {
    let (member, member_version) = filing.member();
    let (session, session_version) = filing.session();
    let (date, subject) = filing.newest_of();
    let nonce = filing.nonce().as_str();
    let deadline = filing.commit_deadline().map(|deadline| deadline.millis().to_string());
    let revision = filing.revision().get();

    EncodedTake::new(
        session,
        log,
        [
            &format_args!("nonce:{}:{member}{nonce}", member.as_str().len()),
            &format_args!("latest:{session}:{member}"),
            &format_args!("member:{member}"),
            &format_args!("session:{session}"),
            &format_args!("newest:{}", on(&date.to_string(), subject.as_str())),
        ],
        [
            &member_version.0,
            &session.0,
            &session_version.0,
            &deadline.unwrap_or_default(),
            &hex(&filing.attempt().0),
            &revision.saturating_sub(1),
            &revision,
            &codec::TakeRow(filing),
        ],
    )
}
