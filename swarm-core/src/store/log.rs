//! The log: queries, times and the tree over it.

use std::sync::Arc;

use super::{Result, StoreError, Versioned};
use crate::domain::{Actor, Seq, Timestamp, Version};
use crate::proof::tile::TileId;

/// A filter for acts of operators. All of its conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct ActQuery {
    /// Only those of this operator.
    pub by: Option<Actor>,
    /// Only those at this time, or later.
    pub since: Option<Timestamp>,
    /// Only those before this time.
    pub before: Option<Timestamp>,
    /// The maximum number of results.
    pub limit: usize,
}

/// The maximum lag of a store's clock behind the last entry, in milliseconds: one hour (API.md,
/// 11.3). Within it, commits get the time of the last entry.
pub const CLOCK_TOLERANCE_MILLIS: i64 = 60 * 60 * 1_000;

/// Returns the time of a commit, from the store's clock and the time of the last row of the log. It
/// never decreases. Every commit calls it, whether it appends a row or not, except
/// [`Records::accept_clock`](super::Records::accept_clock), [`Records::accept_store`](super::Records::accept_store) and
/// [`Records::save_tree`](super::Records::save_tree).
///
/// # Errors
/// [`StoreErrorKind::ClockBehind`](super::StoreErrorKind::ClockBehind) when the clock is more than
/// an hour behind: nothing may be committed then.
pub fn time_of_commit(clock: Timestamp, last: Option<Timestamp>) -> Result<Timestamp> {
    let time = time_of_read(clock, last);
    if time.millis() - clock.millis() > CLOCK_TOLERANCE_MILLIS {
        return Err(StoreError::clock_behind("commit"));
    }
    Ok(time)
}

/// Returns the time of a read: not earlier than the last row of the log.
pub fn time_of_read(clock: Timestamp, last: Option<Timestamp>) -> Timestamp {
    last.map_or(clock, |last| clock.max(last))
}

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
