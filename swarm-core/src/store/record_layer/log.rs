//! The log, and the tree over it.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;

use super::rows::{Outcome, number};
use super::tables::{committee_takes, takes, tiles, trees};
use super::{Change, TenantRecords, acts, committee, takes as take_rows};
use crate::domain::{
    Day, LogEntry, LogRow, Logged, OperatorAct, RecordedAct, Seq, SessionId, Timestamp,
};
use crate::proof::opening_entry;
use crate::proof::tile::TileId;
use crate::records::Unreadable;
use crate::rules::Versioned;
use crate::store::backend::{
    Backend, Body, Check, Entries, Entry, Kind, PartSet, Parts, Query, Range, Reference, Row, Term,
    Value, Write,
};
use crate::store::{
    Act, ActQuery, Log, LogPosition, Result, Saved, TreeChange, TreeState, time_of_commit,
};

#[async_trait]
impl<B: Backend> Log for TenantRecords<B> {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.accept("accept clock", Kind::AcceptClock, act).await
    }

    async fn accept_store(&self, act: &Act) -> Result<()> {
        self.accept("accept store", Kind::AcceptLog, act).await
    }

    async fn accept_key(&self, act: &Act) -> Result<()> {
        self.accept("accept key", Kind::Usual, act).await
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        self.entries("log", Entries { topic: None, after, limit, parts: PartSet::SHOWN }).await
    }

    async fn log_position(&self) -> Result<LogPosition> {
        self.position("log position").await
    }

    async fn seen_log(&self) -> Result<LogPosition> {
        Ok(self.seen.position())
    }

    async fn may_commit(&self) -> Result<()> {
        let reading = self.facts("may commit", Vec::new()).await?;
        time_of_commit(reading.clock, reading.head.at).map(drop)
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        let topic = Value::from(session.0).integer();
        let (after, limit, parts) = (Seq(0), usize::MAX, PartSet::SHOWN);
        self.entries("acts", Entries { topic, after, limit, parts }).await
    }

    async fn operator_acts(&self, query: &ActQuery) -> Result<Vec<RecordedAct>> {
        self.found_acts(query).await
    }

    async fn record_act(
        &self,
        act: &OperatorAct,
        of_strangers: Option<(Day, u32)>,
    ) -> Result<Saved> {
        self.recorded(act, of_strangers).await
    }

    async fn forget_acts(&self, before: Timestamp) -> Result<()> {
        self.forgotten(before).await
    }

    async fn mark_went_back(&self, log: u64, size: Seq) -> Result<()> {
        self.seen.mark_went_back(log, size);
        Ok(())
    }

    async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        let mut found =
            self.read("tree", vec![Query::Rows(Range::key(&trees::TABLE, tree_key()))]).await?;
        found.row().as_ref().map(tree).transpose().map_err(found.corrupt())
    }

    async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
        let TreeChange { expected, state, tiles } = change;
        let checks =
            vec![Check::Version { table: &trees::TABLE, key: tree_key(), expected: *expected }];
        let checkpoint = Body::of(Checkpoint(state.checkpoint.clone()));
        let columns =
            tree_key().into_iter().chain([state.log.into(), state.size.0.into()]).collect();
        let mut writes = vec![Write::Put { table: &trees::TABLE, columns, body: checkpoint }];
        writes.extend(tiles.iter().map(|(id, hashes)| {
            let mut columns = tile_key(state.log, *id);
            columns.push(hashes.as_slice().into());
            Write::Put { table: &tiles::TABLE, columns, body: Body::empty() }
        }));
        self.save("save tree", Change { checks, writes, ..Change::new(Kind::Aside) }).await
    }

    async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        let tile = |id: &TileId| Query::Rows(Range::key(&tiles::TABLE, tile_key(log, *id)));
        let mut found = self.read("tiles", tiles.iter().map(tile).collect()).await?;
        let hashes = |row: Row| row.columns.get(tiles::HASHES)?.bytes().map(<[u8]>::to_vec);
        Ok(tiles.iter().map(|_| found.row().and_then(hashes)).collect())
    }
}

impl<B: Backend> TenantRecords<B> {
    async fn accept(&self, op: &'static str, kind: Kind, act: &Act) -> Result<()> {
        let entry = acts::entry(act, (kind == Kind::AcceptLog).then_some(0));
        self.commit(op, Change { entries: vec![entry], ..Change::new(kind) }).await.map(drop)
    }

    async fn entries(&self, op: &'static str, entries: Entries) -> Result<Vec<LogRow>> {
        let mut found = self.read(op, vec![Query::Entries(entries)]).await?;
        let rows = found.entries();
        rows.iter()
            .map(|it| read(it, false))
            .collect::<Outcome<_>>()
            .map_err(self.damage.corrupt(op))
    }
}

fn tree_key() -> Vec<Term> {
    vec![1_u64.into()]
}

fn tile_key(log: u64, id: TileId) -> Vec<Term> {
    vec![log.into(), u64::from(id.level).into(), id.index.into()]
}

struct Checkpoint(Option<Arc<str>>);

impl Parts for Checkpoint {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        self.0.as_deref().filter(|_| position == trees::CHECKPOINT).map(Cow::Borrowed)
    }
}

fn tree(row: &Row) -> Outcome<Versioned<TreeState>> {
    let state = TreeState {
        log: number(row, trees::LOG)?,
        size: Seq(number(row, trees::SIZE)?),
        checkpoint: row.body.part(trees::CHECKPOINT).map(|note| note.as_ref().into()),
    };
    Ok(Versioned { version: row.version, record: Arc::new(state) })
}

/// Reads an entry; that of a sealed take with the whole take if `unsealed`.
pub(super) fn read(entry: &Entry, unsealed: bool) -> Outcome<LogRow> {
    let logged = match &entry.reference {
        Some(reference) => referring(entry, reference, unsealed)?,
        None => unreferring(entry)?,
    };
    Ok(LogRow { seq: entry.seq, at: entry.at, logged })
}

fn unreferring(entry: &Entry) -> Outcome<Logged> {
    let act = entry.body.value(|| acts::read(entry))?;
    if !matches!(*act, LogEntry::TakeMark(_)) {
        return Ok(Logged::Entry(act));
    }
    let session = entry.topic.and_then(|topic| u64::try_from(topic).ok());
    let session = session.ok_or_else(|| Unreadable::new("the mark of a take has no session"))?;
    Ok(Logged::TakeMark(SessionId(session), act))
}

fn referring(entry: &Entry, reference: &Reference, unsealed: bool) -> Outcome<Logged> {
    let Reference { table, key, row } = reference;
    let missing = || {
        let kind = if **table == takes::TABLE { "take" } else { "committee take" };
        Unreadable::new(&format!("{kind} {key} of the log is missing"))
    };
    let row = row.as_ref().ok_or_else(missing)?;
    if **table == committee_takes::TABLE {
        return Ok(Logged::CommitteeTake(committee::read_take(row)?));
    }
    debug_assert_eq!(**table, takes::TABLE);
    if entry.body.part(0).is_none() {
        return Ok(Logged::Take(match unsealed {
            true => take_rows::read_whole(row)?.into(),
            false => take_rows::read(row)?,
        }));
    }
    let take = take_rows::read_whole(row)?;
    let opening = opening_entry(&take).ok_or_else(|| Unreadable::new("a take without a seal"))?;
    Ok(Logged::Entry(Arc::new(LogEntry::Opening(opening))))
}
