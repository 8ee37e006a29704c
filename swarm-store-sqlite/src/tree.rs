//! The rows of the tree over the log.

use std::sync::Arc;

use swarm_core::domain::{Seq, Version};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{Saved, TreeChange, TreeState, Versioned};

use crate::failure::Outcome;
use crate::tenant_rows::{TenantRows, next, saved, signed, unsigned};

/// The stored state.
pub(crate) fn state(world: &TenantRows<'_>) -> Outcome<Option<Versioned<TreeState>>> {
    const STATE: &str = "SELECT version, log, size, checkpoint FROM trees WHERE tenant = ?1";
    world.one(STATE, &[], |row| {
        let checkpoint: Option<String> = row.get(3)?;
        let state = TreeState {
            log: unsigned(row.get(1)?)?,
            size: Seq(unsigned(row.get(2)?)?),
            checkpoint: checkpoint.map(Arc::from),
        };
        Ok(Versioned { version: Version(unsigned(row.get(0)?)?), record: Arc::new(state) })
    })
}

/// Saves a state, and the tiles that are new or have grown.
pub(crate) fn save(world: &TenantRows<'_>, change: &TreeChange) -> Outcome<Saved> {
    const FIRST: &str = "INSERT OR IGNORE INTO trees (tenant, version, log, size, checkpoint)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    const NEXT: &str = "UPDATE trees SET version = ?2, log = ?3, size = ?4, checkpoint = ?5
        WHERE tenant = ?1 AND version = ?6";
    const TILE: &str = "INSERT INTO tiles (tenant, log, level, number, hashes)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET hashes = excluded.hashes";
    let TreeChange { expected, state, tiles } = change;
    let (version, log, size) = (next(*expected), signed(state.log), signed(state.size.0));
    let checkpoint = state.checkpoint.as_deref();
    let outcome = saved(match expected {
        None => world.run(FIRST, &[&version, &log, &size, &checkpoint]),
        Some(expected) => {
            world.run(NEXT, &[&version, &log, &size, &checkpoint, &signed(expected.0)])
        }
    })?;
    if outcome == Saved::Saved {
        for (id, hashes) in tiles {
            world.run(TILE, &[&log, &id.level, &signed(id.index), hashes])?;
        }
    }
    Ok(outcome)
}

/// A stored tile of the log with this number.
pub(crate) fn tile(world: &TenantRows<'_>, log: u64, id: TileId) -> Outcome<Option<Vec<u8>>> {
    const TILE: &str = "SELECT hashes FROM tiles
        WHERE tenant = ?1 AND log = ?2 AND level = ?3 AND number = ?4";
    world.one(TILE, &[&signed(log), &id.level, &signed(id.index)], |row| Ok(row.get(0)?))
}
