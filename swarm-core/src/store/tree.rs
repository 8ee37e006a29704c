//! The state of the Merkle tree over a log, which a store keeps without interpreting it (API.md, 11.6).

use std::sync::Arc;

use super::Versioned;
use crate::domain::{Seq, Version};
use crate::proof::tile::TileId;

/// The tree over a tenant's log, up to the entry to which it was computed and signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeState {
    /// The number of the log that it is over.
    pub log: u64,
    /// The last entry that the stored tiles cover.
    pub size: Seq,
    /// The last checkpoint that was signed, as a note. It may be of an earlier log, or cover more entries
    /// than the tiles.
    pub checkpoint: Option<Arc<str>>,
}

/// A change of the stored tree. The version is its only guard: the caller has checked that the tree continues
/// the stored one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// The stored version; `None` if no tree is stored.
    pub expected: Option<Version>,
    /// The new state.
    pub state: TreeState,
    /// Tiles of [`state.log`](TreeState::log), at most 8 KiB each: new ones, and those that have
    /// grown.
    pub tiles: Vec<(TileId, Vec<u8>)>,
}

impl TreeChange {
    /// A change of what is stored to this state, without tiles.
    pub fn to(state: TreeState, stored: Option<&Versioned<TreeState>>) -> Self {
        let expected = stored.map(|stored| stored.version);
        Self { expected, state, tiles: Vec::new() }
    }
}
