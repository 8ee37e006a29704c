//! Implements [`Log`].

use async_trait::async_trait;
use swarm_core::domain::{LogRow, Seq};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{Act, Log, LogPosition, Result, Saved, TreeChange, TreeState, Versioned};
use swarm_core::{SessionId, StoreError};

use crate::codec::{self, Context};
use crate::proposal::Proposal;
use crate::rows::entry_arg;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::TenantStore;

/// The field of the state among those of the tiles.
const TREE_STATE: &str = "state";

fn tile_field(log: u64, TileId { level, index }: TileId) -> String {
    format!("{log}:{level}:{index}")
}

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        const OP: &str = "accept clock";
        let mut script = self.call(&scripts::ACCEPT_CLOCK, [self.attempt(OP)?]);
        script.arg(entry_arg(Some(act)));
        self.commit(OP, script).await.map(drop)
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        const OP: &str = "accept store";
        // A wiped tenant has lost its layout mark.
        self.shared.layout.mark(OP, &self.client, &self.keys).await?;
        let (attempt, mut proposal) = (self.attempt(OP)?, Proposal::of(Some(act)));
        loop {
            let mut script = self.call(&scripts::ACCEPT_STORE, [attempt.clone()]);
            script.arg(self.seen.position().log);
            proposal.write(&mut script);
            let outcome: String = self.client.commit(OP, &script, &self.keys).await?;
            match proposal.next(OP, Some(act), &outcome)? {
                Some(wanted) => proposal = wanted,
                None => return self.log_position().await.map(drop),
            }
        }
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        const OP: &str = "accept key";
        let mut script = self.call(&scripts::ACCEPT_KEY, [self.attempt(OP)?]);
        script.arg(entry_arg(Some(act)));
        self.commit(OP, script).await.map(drop)
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        const OP: &str = "log";
        // Redis numbers list entries from 0, and its ranges include their end.
        let Ok(first) = i64::try_from(after.0) else { return Ok(Vec::new()) };
        let Some(more) = i64::try_from(limit).unwrap_or(i64::MAX).checked_sub(1) else {
            return Ok(Vec::new());
        };
        if more < 0 {
            return Ok(Vec::new());
        }
        let keys = [self.keys.log(), self.keys.takes(), self.keys.committee_takes()];
        let mut script = ScriptCall::of(&scripts::LOG, keys);
        script.arg(first).arg(first.saturating_add(more));
        let rows: Vec<String> = self.read(OP, &script).await?;
        let numbered = (after.0.saturating_add(1)..).zip(&rows);
        numbered.map(|(seq, row)| codec::decode_log_row(Seq(seq), row).context(OP)).collect()
    }

    async fn log_position(&self) -> Result<LogPosition> {
        const OP: &str = "log position";
        let script = self.with_position(self.call(&scripts::LOG_POSITION, []));
        let (how, log, size, last): (String, u64, u64, String) = self.read(OP, &script).await?;
        let position = LogPosition { log, size: Seq(size), last: last.into() };
        match how.as_str() {
            "back" => drop(self.seen.note::<()>(Err(StoreError::went_back(OP)))),
            // Replicas may not have it yet: it could be lost without ever having been acknowledged.
            "same" if self.client.replicas() > 0 => {}
            _ => self.seen.advance(position.clone()),
        }
        Ok(position)
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        const OP: &str = "acts";
        let get = redis::cmd("HGET").arg(self.keys.acts()).arg(session.0).to_owned();
        let acts: Option<String> = self.query(OP, &get).await?;
        let acts = acts.unwrap_or_default();
        acts.lines().map(|line| codec::decode_act(line).context(OP)).collect()
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        const OP: &str = "tree";
        let get = redis::cmd("HGET").arg(self.keys.tree()).arg(TREE_STATE).to_owned();
        let state: Option<String> = self.query(OP, &get).await?;
        state.map(|state| codec::decode_tree(&state).context(OP)).transpose()
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        const OP: &str = "save tree";
        self.mark(OP).await?;
        let mut script = ScriptCall::of(&scripts::SAVE_TREE, [self.keys.tree()]);
        script.arg(change.expected.map_or_else(String::new, |version| version.0.to_string()));
        script.arg(TREE_STATE).arg(codec::encode_tree(change));
        for (id, hashes) in &change.tiles {
            script.arg(tile_field(change.state.log, *id)).arg(hashes.as_slice());
        }
        let outcome: String = self.client.run(OP, &script).await?;
        Ok(if outcome == "saved" { Saved::Saved } else { Saved::Stale })
    }

    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        if tiles.is_empty() {
            return Ok(Vec::new());
        }
        let fields: Vec<_> = tiles.iter().map(|id| tile_field(log, *id)).collect();
        let get = redis::cmd("HMGET").arg(self.keys.tree()).arg(fields).to_owned();
        self.query("tiles", &get).await
    }
}
