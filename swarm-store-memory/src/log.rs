//! The log.

use async_trait::async_trait;
use swarm_core::domain::{LogRow, Seq, SessionId};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{
    Act, Log, LogPosition, Result, Saved, TreeChange, TreeState, Versioned, time_of_commit,
};

use crate::TenantStore;
use crate::log_rows::Row;
use crate::tenant_records::{first, next};

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.change(|tenant, seen| {
            tenant.check_commit(seen)?;
            tenant.log.act(act, (self.clock)());
            Ok(())
        })
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        self.change(|tenant, seen| {
            let now = self.time(tenant);
            let number = tenant.log.number().max(seen.log).saturating_add(1);
            tenant.log.accepted = number.saturating_sub(1);
            tenant.log.minted(act, now, number);
            Ok(())
        })
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        self.change(|tenant, seen| {
            tenant.check_commit(seen)?;
            let now = time_of_commit((self.clock)(), tenant.log.last())?;
            tenant.log.act(act, now);
            Ok(())
        })
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        let rows: Vec<_> =
            self.read(|tenant| tenant.log.rows.iter().skip(skipped).take(limit).cloned().collect());
        rows.into_iter().map(Row::read).collect()
    }

    async fn log_position(&self) -> Result<LogPosition> {
        self.read(|tenant| {
            let position = tenant.log.position();
            if self.seen.note(tenant.check_facts(&self.seen.position())).is_ok() {
                self.seen.advance(position.clone());
            }
            Ok(position)
        })
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        let rows: Vec<_> = self.read(|tenant| {
            let places = tenant.log.acts.get(&session).into_iter().flatten();
            places.filter_map(|place| tenant.log.rows.get(*place).cloned()).collect()
        });
        rows.into_iter().map(Row::read).collect()
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        Ok(self.read(|tenant| tenant.tree.state.clone()))
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        let tree = &mut crate::lock_to_write(&self.records).tree;
        let stored = tree.state.as_ref().map(|stored| stored.version);
        if stored != change.expected {
            return Ok(Saved::Stale);
        }
        let state = change.state.clone();
        tree.state = Some(match stored {
            None => first(state),
            Some(version) => next(version, state),
        });
        for (id, hashes) in &change.tiles {
            tree.tiles.insert((change.state.log, *id), hashes.clone());
        }
        Ok(Saved::Saved)
    }

    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        let get =
            |tree: &crate::tenant_records::Tree, id: &TileId| tree.tiles.get(&(log, *id)).cloned();
        Ok(self.read(|tenant| tiles.iter().map(|id| get(&tenant.tree, id)).collect()))
    }
}
