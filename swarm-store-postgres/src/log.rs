//! Implements [`Log`].

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{LogEntry, LogRow, Logged, Seq, SessionId, Take};
use swarm_core::proof::opening_entry;
use swarm_core::proof::tile::TileId;
use swarm_core::store::records::Record as _;
use swarm_core::store::{Act, Log, LogPosition, Result, Saved, TreeChange, TreeState, Versioned};
use tokio_postgres::Row;

use crate::commit::{Change, Mode};
use crate::db::{Arg, limit, moment_of, number, number_of, position_of, signed};
use crate::failure::{Failure, Outcome};
use crate::takes::take;
use crate::tenant::TenantStore;
use crate::tree;

/// The entries after `$2`, at most `$3`.
pub(crate) const ENTRIES: &str = include_str!("queries/log_entries.sql");

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.append("accept clock", act, Mode::AcceptClock).await
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        self.append("accept store", act, Mode::AcceptStore).await
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        self.append("accept key", act, Mode::Usual).await
    }

    async fn log(&self, after: Seq, most: usize) -> Result<Vec<LogRow>> {
        self.all("log", ENTRIES, &[number(after.0), limit(most)], row).await
    }

    async fn log_position(&self) -> Result<LogPosition> {
        const POSITION: &str = "SELECT coalesce(t.log, 1), coalesce(t.seq, 0),
                swarm.fingerprint_1($1, t.seq), swarm.fingerprint_1($1, $2)
            FROM (SELECT) AS one LEFT JOIN swarm.tenants t ON t.tenant = $1";
        const OP: &str = "log position";
        let seen = self.seen.position();
        let size = [number(seen.size.0)];
        let found = self.one(OP, POSITION, &size, |row| {
            let position = position_of(row, [0, 1, 2])?;
            let goes_on = seen.check_facts(position.log, row.try_get(3)?);
            Ok((position, goes_on))
        });
        let (position, goes_on) =
            found.await?.ok_or_else(|| Failure::corrupt("no position").of(OP))?;
        if self.seen.note(goes_on).is_ok() {
            self.seen.advance(position.clone());
        }
        Ok(position)
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        const ON_SESSION: &str = include_str!("queries/acts_on_session.sql");
        self.all("acts", ON_SESSION, &[number(session.0)], row).await
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        self.one("tree", tree::STATE, &[], tree::state).await
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        let change = Change::new("save tree", tree::SAVE, tree::args(change));
        self.save(Change { mode: Mode::Unchecked, ..change }).await
    }

    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        let levels = Arg::Numbers(tiles.iter().map(|id| id.level.into()).collect());
        let numbers = Arg::Numbers(tiles.iter().map(|id| signed(id.index)).collect());
        let place = [number(log), levels, numbers];
        self.all("tiles", tree::TILES, &place, |row| Ok(row.try_get(0)?)).await
    }
}

impl TenantStore {
    /// Appends an act, and changes nothing else.
    async fn append(&self, op: &'static str, act: &Act, mode: Mode) -> Result<()> {
        let change = Change::new(op, "SELECT 'saved', 0, NULL", json!({})).with([act]);
        self.commit(Change { mode, ..change }).await.map(drop)
    }
}

/// The entry of a row of [`ENTRIES`].
pub(crate) fn row(row: &Row) -> Outcome<LogRow> {
    let is_of_take = row.try_get::<_, Option<i64>>(4)?.is_some();
    let missing = row.try_get::<_, Option<i64>>(11)?.filter(|_| !is_of_take);
    if let Some(take) = missing {
        return Err(Failure::corrupt(format!("take {take} of the log is missing")));
    }
    let logged = match (row.try_get(2)?, row.try_get(3)?) {
        (Some::<&str>(_), _) if is_of_take => opening(take(row, 4)?.as_ref())?,
        (Some(act), _) => Logged::Entry(Arc::new(LogEntry::from_text(act)?)),
        (None, Some(record)) => Logged::CommitteeTake(Arc::new(CommitteeTake::from_text(record)?)),
        (None, None) if is_of_take => Logged::Take(take(row, 4)?),
        (None, None) => return Err(Failure::corrupt("a committee take of the log is missing")),
    };
    Ok(LogRow { seq: Seq(number_of(row, 0)?), at: moment_of(row, 1)?, logged })
}

/// The entry by which a take was opened.
fn opening(take: &Take) -> Outcome<Logged> {
    let opening = opening_entry(take).ok_or_else(|| Failure::corrupt("a take without a seal"))?;
    Ok(Logged::Entry(Arc::new(LogEntry::Opening(opening))))
}
