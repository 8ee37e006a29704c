//! Files takes. Takes that arrive at the same time are committed in batches.

use std::iter::zip;

use async_trait::async_trait;
use swarm_core::StoreError;
use swarm_core::rules::Filing;
use swarm_core::store::{BatchCommit, LogPosition, Result, SeenLog};

use crate::encoded_take::EncodedTake;
use crate::scripts;
use crate::tenant::TenantStore;

/// Maximum takes in a batch. Larger batches hardly reduce the cost of a take.
const MAX_BATCH: usize = 32;

/// Size in bytes of a full batch, that of 32 typical takes. Redis serves no other client while it runs a batch.
const MAX_BATCH_BYTES: usize = 64 * 1024;

impl TenantStore {
    /// Commits a take, in a batch with others that are waiting; returns its outcome.
    pub(crate) async fn commit_take(&self, filing: &Filing) -> Result<String> {
        let spawn = |calls| drop(tokio::spawn(calls));
        self.shared.group_commit.commit(self, EncodedTake::new(filing), spawn).await
    }
}

#[async_trait]
impl BatchCommit for TenantStore {
    type Take = EncodedTake;
    type Outcome = String;

    fn fits(batch: &[&EncodedTake], next: &EncodedTake) -> bool {
        batch.len() < MAX_BATCH
            && batch.iter().map(|take| take.len()).sum::<usize>() < MAX_BATCH_BYTES
            && batch.iter().all(|take| next.is_compatible(take))
    }

    fn seen(&self) -> &SeenLog {
        &self.seen
    }

    /// Adjacent takes of one session share its arguments. The outcome is a line per take, empty for a take that could not
    /// be written while others could.
    async fn commit_batch(
        &self,
        takes: &[&EncodedTake],
        seen: &LogPosition,
    ) -> Result<Vec<Option<Result<String>>>> {
        let mut sorted: Vec<_> = takes.iter().enumerate().collect();
        sorted.sort_by(|(_, one), (_, other)| one.of_session.cmp(&other.of_session));
        // The first take of each session, and the number of its takes.
        let sessions: Vec<_> = sorted
            .chunk_by(|(_, one), (_, other)| one.of_session == other.of_session)
            .filter_map(|takes| Some((takes.first()?.1, takes.len())))
            .collect();
        let lists = sessions.iter().map(|(take, _)| self.keys.session_takes(take.session));
        let keys: Vec<_> = lists.chain([self.keys.takes_index()]).collect();
        let mut script = self.call(&scripts::FILE, keys);
        for (take, count) in &sessions {
            script.args(take.of_session.rest());
            script.arg(count);
        }
        sessions.iter().for_each(|(take, _)| script.args(take.of_session.fields()));
        sorted.iter().for_each(|(_, take)| script.args(take.own.fields()));
        sorted.iter().for_each(|(_, take)| script.args(take.own.rest()));
        let outcomes = self.commit_at("file", script, seen.clone()).await?;
        let lines: Vec<_> = outcomes.split('\n').collect();
        if lines.len() != takes.len() {
            return Err(StoreError::corrupt("file", "another number of outcomes"));
        }
        let places = sorted.iter().map(|(place, _)| place);
        let mut outcomes: Vec<_> = zip(places, lines).collect();
        outcomes.sort_unstable();
        let known = |line: &str| (!line.is_empty()).then(|| Ok(line.to_owned()));
        Ok(outcomes.into_iter().map(|(_, line)| known(line)).collect())
    }
}
