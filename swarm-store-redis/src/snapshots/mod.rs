//! Long snapshots of sessions. They are cut off the rows of their sessions, and kept in pieces in keys of their own.
//!
//! The server would be blocked too long if a commit sent several MB and wrote them to the append-only file. The pieces are
//! therefore written before the commit, under a key that expires. The commit only renames it. A row that was cut ends with
//! the text before the weights of its snapshot, so scripts need nothing else for summaries.

#[cfg(test)]
mod tests;

use swarm_core::StoreError;
use swarm_core::store::Result;
use swarm_core::store::records::{BEFORE_SNAPSHOT, BEFORE_WEIGHTS};

use crate::codec::{self, Context};
use crate::connection::client::bounded;
use crate::script_call::{LONG, ScriptCall};
use crate::scripts;
use crate::tenant::TenantStore;

/// The size from which the rest of a row is long, and the size of a piece, in bytes. In unit tests the rest of every
/// snapshot is long, and has several pieces.
const LONG_REST: usize = if cfg!(test) { 1 } else { LONG };
const PIECE: usize = if cfg!(test) { 100 } else { LONG };

/// How many times sessions are read while they keep changing.
const MAX_READS: usize = 32;

/// The time until the pieces for a commit that was never made expire, in milliseconds.
const STAGED_MILLIS: u64 = 600_000;

/// The row of a session as it is stored, and the rest of it in pieces; none if it is short.
pub(crate) fn divided(mut row: String) -> (String, Vec<String>) {
    let Some(end) = end_of_head(&row).filter(|end| row.len() - end >= LONG_REST) else {
        return (row, Vec::new());
    };
    let rest = row.split_off(end);
    (row, pieces(&rest))
}

/// Whether the rest of this row is in pieces. A whole row ends with a brace.
pub(crate) fn is_cut(row: &str) -> bool {
    row.ends_with(BEFORE_WEIGHTS)
}

/// Whether cut rows have the same figures, the time of the aggregation among them.
pub(crate) fn same_figures(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|row| row.split_once(BEFORE_SNAPSHOT));
    one.zip(other).is_some_and(|((_, one), (_, other))| one == other)
}

/// Reads sessions with their snapshots, again for as long as `read` finds that one has changed between its calls.
pub(crate) async fn until_unchanged<T, F: Future<Output = Result<Option<T>>>>(
    op: &'static str,
    read: impl Fn() -> F,
) -> Result<T> {
    let reads = async {
        for _ in 0..MAX_READS {
            if let Some(found) = read().await? {
                return Ok(found);
            }
        }
        Err(StoreError::contended(op, "sessions kept changing while they were read"))
    };
    bounded(op, reads).await
}

fn end_of_head(row: &str) -> Option<usize> {
    let snapshot = row.find(BEFORE_SNAPSHOT)?;
    let weights = row.get(snapshot..)?.find(BEFORE_WEIGHTS)?;
    Some(snapshot + weights + BEFORE_WEIGHTS.len())
}

/// Divides a text between characters, since pieces are read as text.
fn pieces(mut text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = (PIECE..text.len()).find(|end| text.is_char_boundary(*end));
        let (piece, rest) = text.split_at(end.unwrap_or(text.len()));
        pieces.push(piece.to_owned());
        text = rest;
    }
    pieces
}

impl TenantStore {
    /// The rest of a row that was cut. `None` if the session is not as `is_same` compares it with that row: its snapshot
    /// may then be another.
    ///
    /// No script, since that copies each piece four times while the server is blocked: for 2.7 MB, 4.3 ms instead of 0.4.
    pub(crate) async fn rest(
        &self,
        op: &'static str,
        row: &str,
        is_same: impl Fn(&str, &str) -> bool + Send,
    ) -> Result<Option<String>> {
        let id = codec::decode_session_id(row).context(op)?;
        let mut read = redis::pipe();
        read.cmd("LRANGE").arg(self.keys.session_snapshot(id)).arg(0).arg(-1);
        // After it. Each commit changes the version: if the row is the same now, so it was when the pieces were read.
        read.cmd("HGET").arg(self.keys.sessions()).arg(id.0);
        let (pieces, now): (Vec<String>, Option<String>) = self.query_bulk(op, &read).await?;
        Ok(now.filter(|now| is_same(now, row)).map(|_| pieces.concat()))
    }

    /// Completes a row that was cut. `false` if the session has changed since the row was read.
    pub(crate) async fn complete(&self, op: &'static str, row: &mut String) -> Result<bool> {
        if is_cut(row) {
            let Some(rest) = self.rest(op, row, |now, row| now == row).await? else {
                return Ok(false);
            };
            row.push_str(&rest);
        }
        Ok(true)
    }

    /// Writes pieces for a commit, one per call, so that other calls run in between.
    pub(crate) async fn stage(
        &self,
        op: &'static str,
        staged: &str,
        pieces: &[String],
    ) -> Result<()> {
        self.mark(op).await?;
        for (place, piece) in pieces.iter().enumerate() {
            let mut script = ScriptCall::of(&scripts::STAGE, [staged]);
            script.arg(place).arg(piece).arg(STAGED_MILLIS);
            self.client.run_bulk::<()>(op, &script).await?;
        }
        Ok(())
    }

    /// Removes the pieces for a commit that was not made.
    pub(crate) async fn unstage(&self, op: &'static str, staged: &str) -> Result<()> {
        self.query(op, &redis::cmd("UNLINK").arg(staged).to_owned()).await
    }
}
