//! The part of the port for the log of public changes.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Act, LogPosition, Result, Saved, StoreError, Versioned};
use crate::domain::{
    Actor, Day, LogRow, OperatorAct, RecordedAct, Seq, SessionId, Timestamp, Version,
};
use crate::proof::tile::TileId;

/// The part of the port that keeps the log. Rows are appended by the commits that they describe:
/// one for each [`Act`] that a change carries, and one for each take, of either interface. A row
/// of a take is a reference to it; a row of an act is the entry that [`Act::entry`] makes of the id
/// and the time of the commit, kept as its [text](crate::domain::LogEntry::to_text) or as a value.
///
/// To ensure correctness, in the same atomic step as such a commit:
/// - append one row with the next number, from 1 without a gap, and the time of the commit;
/// - append nothing if nothing is committed, and nothing again for an attempt that is sent twice;
/// - never let that time decrease within a tenant, until [`accept_clock`](Self::accept_clock): see
///   [`time_of_commit`];
/// - commit nothing, with or without a row, unless the log continues from the position that this
///   process has seen, until [`accept_store`](Self::accept_store): see
///   [`SeenLog`](super::SeenLog). A process has seen the positions that its own commits and
///   [`log_position`](Self::log_position) returned.
#[async_trait]
pub trait Log: Send + Sync {
    /// Appends an act with the time of the store's clock, even if the last row has a later time. So
    /// an operator accepts the clock, and commits follow it again. Nothing else lets the time
    /// decrease.
    async fn accept_clock(&self, act: &Act) -> Result<()>;

    /// Appends an act regardless of the position seen and of the clock, with a time from
    /// [`time_of_read`]. So an operator accepts the store as it is. A new log begins with that row; its number is higher than any seen here.
    /// Other processes notice by that number: their next commit is contended, unless they have read
    /// the position before, and later ones succeed.
    async fn accept_store(&self, act: &Act) -> Result<()>;

    /// Appends an act, and changes nothing else. So an operator accepts the key that the log is
    /// signed with from then on; the store knows nothing of keys.
    async fn accept_key(&self, act: &Act) -> Result<()>;

    /// Up to `limit` rows after the one numbered `after` (0: from the beginning), oldest first.
    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>>;

    /// The current position of the log, whether or not it continues the one seen before.
    async fn log_position(&self) -> Result<LogPosition>;

    /// The position that this process has seen, from which commits must continue.
    async fn seen_log(&self) -> Result<LogPosition>;

    /// Returns the error of a commit now, if it would be refused: because the clock is too far behind the log, or because the
    /// log went back.
    async fn may_commit(&self) -> Result<()>;

    /// The acts on a session, without its takes, oldest first.
    /// The acts on a session and on the texts of its takes, without the takes, oldest first.
    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>>;

    /// The acts of operators that match, the latest first. To ensure correctness, they include those of all commits whose
    /// entries [an operator made](OperatorAct::of_entry), and the acts that came with changes.
    async fn operator_acts(&self, query: &ActQuery) -> Result<Vec<RecordedAct>>;

    /// Records an act that no change comes with, whatever log and clock are. Of acts with `of_strangers`, returns
    /// [`Saved::Stale`] when so many of that day are recorded.
    async fn record_act(
        &self,
        act: &OperatorAct,
        of_strangers: Option<(Day, u32)>,
    ) -> Result<Saved>;

    /// Removes the acts from before this time.
    async fn forget_acts(&self, before: Timestamp) -> Result<()>;

    /// Blocks the commits of this process until [`accept_store`](Self::accept_store), as if the log had gone back.
    /// Called when a log with this number and size was signed that the stored log does not continue. Has no effect
    /// if the stored log, or the one seen, has a higher number than `log`. See
    /// [`SeenLog::mark_went_back`](super::SeenLog::mark_went_back).
    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()>;

    /// The stored state of the tree over the log; `None` until the first is saved. The tree only serves proofs of
    /// the log: writing it appends no row, and its version is its only guard.
    async fn tree(&self) -> Result<Option<Versioned<TreeState>>>;

    /// Saves a state of the tree, and its tiles, in one step if the stored state has the expected
    /// version. A tile that is stored already is replaced.
    async fn save_tree(&self, change: &TreeChange) -> Result<Saved>;

    /// The stored tiles of the log with this number, in the order of `tiles`; `None` for those that are
    /// not stored. A tile that a saved state refers to never becomes shorter.
    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>>;
}

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
/// [`accept_clock`](Log::accept_clock), [`accept_store`](Log::accept_store) and
/// [`save_tree`](Log::save_tree).
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
