//! The log.

use async_trait::async_trait;
use swarm_core::domain::{LogRow, Seq, SessionId};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{
    Act, Log, LogPosition, Result, Saved, TreeChange, TreeState, Versioned, time_of_commit,
};

use crate::TenantStore;
use crate::log_rows::Row;
use crate::world::{first, next};

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.change(|world, seen| {
            world.check_commit(seen)?;
            world.log.act(act, (self.clock)());
            Ok(())
        })
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        self.change(|world, seen| {
            let now = self.time(world);
            let number = world.log.number().max(seen.log).saturating_add(1);
            world.log.accepted = number.saturating_sub(1);
            world.log.minted(act, now, number);
            Ok(())
        })
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        self.change(|world, seen| {
            world.check_commit(seen)?;
            let now = time_of_commit((self.clock)(), world.log.last())?;
            world.log.act(act, now);
            Ok(())
        })
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        let rows: Vec<_> =
            self.read(|world| world.log.rows.iter().skip(skipped).take(limit).cloned().collect());
        rows.into_iter().map(Row::read).collect()
    }

    async fn log_position(&self) -> Result<LogPosition> {
        self.read(|world| {
            let position = world.log.position();
            if self.seen.note(world.check_facts(&self.seen.position())).is_ok() {
                self.seen.advance(position.clone());
            }
            Ok(position)
        })
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        let rows: Vec<_> = self.read(|world| {
            let places = world.log.acts.get(&session).into_iter().flatten();
            places.filter_map(|place| world.log.rows.get(*place).cloned()).collect()
        });
        rows.into_iter().map(Row::read).collect()
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        Ok(self.read(|world| world.tree.state.clone()))
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        let tree = &mut crate::lock_to_write(&self.world).tree;
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
        let get = |tree: &crate::world::Tree, id: &TileId| tree.tiles.get(&(log, *id)).cloned();
        Ok(self.read(|world| tiles.iter().map(|id| get(&world.tree, id)).collect()))
    }
}
