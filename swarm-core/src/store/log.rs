//! The log of what the public may see.

use async_trait::async_trait;

use super::{LogPosition, Result, StoreError};
use crate::domain::{Act, LogRow, Seq, SessionId, Timestamp};

/// The part of the port that keeps the log. Rows are appended by the commits that they describe:
/// one for each [`Act`](crate::domain::Act) that a change carries, and one for each take, of either
/// interface.
///
/// To ensure correctness, with such a commit, in the same atomic step:
/// - append one row with the next number, from 1 without a gap, and the time of the commit;
/// - append nothing with what is not committed, and nothing again for an attempt that is sent twice;
/// - let that time never run back within a tenant, until [`accept_clock`](Self::accept_clock): see
///   [`time_of_commit`];
/// - commit nothing, with or without a row, to a log that does not go on from where this process has
///   seen it, until [`accept_store`](Self::accept_store): see [`SeenLog`](super::SeenLog). A process
///   has seen the rows that it was told of as committed, by its own commits and by
///   [`log_position`](Self::log_position).
#[async_trait]
pub trait Log: Send + Sync {
    /// Appends an act at the time of the store's clock, even if that is before the time of the last
    /// row: the operator accepts the clock, and commits follow it again. Nothing else moves the
    /// time back.
    async fn accept_clock(&self, act: &Act) -> Result<()>;

    /// Appends an act, no matter what was seen of the log and how far the clock is behind it: the
    /// operator accepts the store as it is. A new log begins with that row, which mints the number
    /// of the log; it is higher than any that was seen here, by which other processes notice: their
    /// next commit is contended, unless they have read the position before, and those after it
    /// follow.
    async fn accept_store(&self, act: &Act) -> Result<()>;

    /// The rows after the one numbered `after` (0: from the beginning), the oldest first, at most
    /// `limit`.
    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>>;

    /// Where the log stands, be it the one that was seen before or not.
    async fn log_position(&self) -> Result<LogPosition>;

    /// Where this process has seen the log: what commits are held to.
    async fn seen_log(&self) -> Result<LogPosition>;

    /// The acts on a session, the oldest first: not its takes.
    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>>;
}

/// How far behind the last entry a store's clock may be, in milliseconds: one hour (API.md, 11.3). Up to
/// that, commits get the time of the last entry.
pub const CLOCK_TOLERANCE_MILLIS: i64 = 60 * 60 * 1_000;

/// The time of a commit, by the store's clock and the time of the last row of the log: it never
/// runs back.
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

/// The time of a read: no earlier than the last row of the log.
pub fn time_of_read(clock: Timestamp, last: Option<Timestamp>) -> Timestamp {
    last.map_or(clock, |last| clock.max(last))
}
