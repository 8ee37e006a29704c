//! The rows of the tree over the log.

use std::sync::Arc;

use serde_json::{Value, json};
use swarm_core::domain::{Seq, Version};
use swarm_core::proof::tile::TileId;
use swarm_core::store::{TreeChange, TreeState, Versioned};
use tokio_postgres::Row;

use crate::db::{after, bytes, number_of, signed};
use crate::failure::Outcome;

/// The stored state.
pub(crate) const STATE: &str =
    "SELECT version, log, size, checkpoint FROM swarm.trees WHERE tenant = $1";

/// Tiles of a log, those that are stored.
pub(crate) const TILES: &str = include_str!("queries/tiles.sql");

pub(crate) fn state(row: &Row) -> Outcome<Versioned<TreeState>> {
    let checkpoint = row.try_get::<_, Option<&str>>(3)?.map(Arc::from);
    let (log, size) = (number_of(row, 1)?, Seq(number_of(row, 2)?));
    let record = Arc::new(TreeState { log, size, checkpoint });
    Ok(Versioned { version: Version(number_of(row, 0)?), record })
}

/// Saves a state and its tiles. No change of the records: it is not announced.
pub(crate) const SAVE: &str = include_str!("commits/save_tree.sql");

pub(crate) fn args(change: &TreeChange) -> Value {
    let TreeChange { expected, state, tiles } = change;
    let tile = |(id, hashes): &(TileId, Vec<u8>)| json!({"level": id.level, "number": signed(id.index), "hashes": bytes(hashes)});
    json!({
        "expected": expected.map(|version| signed(version.0)),
        "version": signed(after(*expected).0),
        "log": signed(state.log),
        "size": signed(state.size.0),
        "checkpoint": state.checkpoint.as_deref(),
        "tiles": tiles.iter().map(tile).collect::<Vec<_>>(),
    })
}
