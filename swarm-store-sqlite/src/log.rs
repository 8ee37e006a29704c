//! Implements [`Log`].

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Row, ToSql};
use swarm_core::domain::{LogEntry, LogRow, Logged, Seq, SessionId, Take, TakeId};
use swarm_core::proof::opening_entry;
use swarm_core::proof::tile::TileId;
use swarm_core::store::{Act, Log, LogPosition, Result, Saved, TreeChange, TreeState, Versioned};

use crate::failure::{Failure, Outcome};
use crate::log_rows::{append_act, append_minted, check_commit, check_facts, number, position};
use crate::tenant_rows::{TenantRows, signed, text, timestamp, unsigned};
use crate::{TenantStore, committee, takes, tree};

/// The acts on a session. The index is named because the planner would read the whole log, which is in order.
pub(crate) const ACTS_ON: &str = "SELECT seq, at, take, committee_take, act
    FROM log INDEXED BY log_by_session WHERE tenant = ?1 AND session = ?2 ORDER BY seq";

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        let (act, seen) = (act.clone(), self.seen.position());
        let accept = move |world: &TenantRows<'_>| {
            check_commit(world, &seen)?;
            append_act(world, &act, world.clock())
        };
        self.write_unchecked("accept clock", accept).await
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        let (act, seen) = (act.clone(), self.seen.position());
        let accept = move |world: &TenantRows<'_>| {
            let log = number(world)?.max(seen.log).saturating_add(1);
            begin(world, log)?;
            append_minted(world, &act, world.now()?, log)
        };
        self.write_unchecked("accept store", accept).await
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        let act = act.clone();
        self.write("accept key", move |world| append_act(world, &act, world.time_of_commit()?))
            .await
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        const AFTER: &str = "SELECT seq, at, take, committee_take, act FROM log
            WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("log", move |world| rows(world, AFTER, &[&signed(after.0), &limit])).await
    }

    async fn log_position(&self) -> Result<LogPosition> {
        let seen = self.seen.position();
        let look = move |world: &TenantRows<'_>| {
            Ok((position(world)?, check_facts(world, &seen).map_err(|it| it.of("log position"))))
        };
        let (position, goes_on) = self.read("log position", look).await?;
        if self.seen.note(goes_on).is_ok() {
            self.seen.advance(position.clone());
        }
        Ok(position)
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        self.read("acts", move |world| rows(world, ACTS_ON, &[&signed(session.0)])).await
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        self.read("tree", tree::state).await
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        let change = change.clone();
        self.write_apart("save tree", move |world| tree::save(world, &change)).await
    }

    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        let tiles = tiles.to_vec();
        let look = move |world: &TenantRows<'_>| {
            tiles.iter().map(|id| tree::tile(world, log, *id)).collect::<Outcome<Vec<_>>>()
        };
        self.read("tiles", look).await
    }
}

/// Begins the log with this number.
pub(crate) fn begin(world: &TenantRows<'_>, log: u64) -> Outcome<()> {
    const BEGIN: &str = "INSERT INTO logs (tenant, number) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET number = excluded.number";
    world.run(BEGIN, &[&signed(log)]).map(drop)
}

fn rows(world: &TenantRows<'_>, sql: &str, values: &[&dyn ToSql]) -> Outcome<Vec<LogRow>> {
    let found = world.all(sql, values, |row| {
        let at = timestamp(row.get(1)?)?;
        Ok((Seq(unsigned(row.get(0)?)?), at, reference(row)?))
    })?;
    let missing = |take: &str, id| Failure::corrupt(format!("{take} {id} of the log is missing"));
    let logged = |reference| match reference {
        Reference::Entry(entry) => Ok(Logged::Entry(Arc::new(entry))),
        Reference::Take(id) => {
            let take = takes::by_id(world, id)?;
            take.map(Logged::Take).ok_or_else(|| missing("take", id.0))
        }
        Reference::Opening(id) => {
            opening(takes::by_id(world, id)?.ok_or_else(|| missing("take", id.0))?.as_ref())
        }
        Reference::CommitteeTake(id) => {
            let take = committee::take_by_id(world, id)?;
            take.map(Logged::CommitteeTake).ok_or_else(|| missing("committee take", id))
        }
    };
    found
        .into_iter()
        .map(|(seq, at, reference)| Ok(LogRow { seq, at, logged: logged(reference)? }))
        .collect()
}

/// The entry by which a take was opened.
pub(crate) fn opening(take: &Take) -> Outcome<Logged> {
    let opening = opening_entry(take).ok_or_else(|| Failure::corrupt("a take without a seal"))?;
    Ok(Logged::Entry(Arc::new(LogEntry::Opening(opening))))
}

/// The content of a row of the `log` table.
enum Reference {
    Take(TakeId),
    Opening(TakeId),
    CommitteeTake(u64),
    Entry(LogEntry),
}

fn reference(row: &Row<'_>) -> Outcome<Reference> {
    if let Some(take) = row.get::<_, Option<i64>>(2)? {
        let (take, act) = (TakeId(unsigned(take)?), row.get::<_, Option<String>>(4)?);
        return Ok(if act.is_some() { Reference::Opening(take) } else { Reference::Take(take) });
    }
    if let Some(take) = row.get::<_, Option<i64>>(3)? {
        return Ok(Reference::CommitteeTake(unsigned(take)?));
    }
    Ok(Reference::Entry(LogEntry::from_text(text(row, 4)?)?))
}
