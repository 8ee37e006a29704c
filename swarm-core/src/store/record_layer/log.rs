//! The log, and the tree over it.

use std::borrow::Cow;
use std::sync::Arc;

use super::rows::{Outcome, number};
use super::tables::{committee_takes, takes, tiles, trees};
use super::{Change, Records, acts, committee_rows, takes as take_rows};
use crate::domain::{LogEntry, LogRow, Logged, Seq, SessionId};
use crate::proof::opening_entry;
use crate::proof::tile::TileId;
use crate::records::Unreadable;
use crate::rules::Versioned;
use crate::store::backend::{
    Body, Check, Entries, Entry, Kind, PartSet, Parts, Query, Range, Reference, Row, Term, Value,
    Write,
};
use crate::store::{
    Act, LogIdentity, LogPosition, Result, Saved, TreeChange, TreeState, time_of_commit,
};

/// The log. Entries are appended by the commits that they describe: one for each [`Act`] that a change carries, and one for each take, of
/// either interface. The entry of a take is a reference to it; that of an act is what [`Act::entry`] makes of the id and the time of the
/// commit.
///
/// The time of commits never decreases within a tenant until [`accept_clock`](Self::accept_clock): see [`time_of_commit`]. Nothing is
/// committed unless the log continues from the position that this process has seen, until [`accept_store`](Self::accept_store): see
/// [`SeenLog`](crate::store::SeenLog).
impl Records {
    /// Appends an act with the time of the store's clock, even if the last row has a later time. So
    /// an operator accepts the clock, and commits follow it again. Nothing else lets the time
    /// decrease.
    pub async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.accept("accept clock", Kind::AcceptClock, act).await
    }

    /// Appends an act regardless of the position seen and of the clock, with a time from
    /// [`time_of_read`](crate::store::time_of_read). So an operator accepts the store as it is. A new log begins with that row; its number is higher than any seen here.
    /// Other processes notice by that number: their next commit is contended, unless they have read
    /// the position before, and later ones succeed.
    pub async fn accept_store(&self, act: &Act) -> Result<()> {
        self.accept("accept store", Kind::AcceptLog, act).await
    }

    /// Appends an act, and changes nothing else. So an operator accepts the key that the log is
    /// signed with from then on; the store knows nothing of keys.
    pub async fn accept_key(&self, act: &Act) -> Result<()> {
        self.accept("accept key", Kind::Usual, act).await
    }

    /// Up to `limit` rows after the one numbered `after` (0: from the beginning), oldest first.
    pub async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        self.entries("log", Entries { topic: None, after, limit, parts: PartSet::SHOWN }).await
    }

    /// The current position of the log, whether or not it continues the one seen before.
    pub async fn log_position(&self) -> Result<LogPosition> {
        self.position("log position").await
    }

    /// The position that this process has seen, from which commits must continue.
    pub fn seen_log(&self) -> LogPosition {
        self.seen.position()
    }

    /// Returns which log this handle reads and writes.
    pub fn log_identity(&self) -> LogIdentity {
        self.seen.identity()
    }

    /// Returns the error of a commit now, if it would be refused: because the clock is too far behind the log, or because the
    /// log went back.
    pub async fn may_commit(&self) -> Result<()> {
        let reading = self.facts("may commit", Vec::new()).await?;
        time_of_commit(reading.clock, reading.head.at).map(drop)
    }

    /// The acts on a session and on the texts of its takes, without the takes, oldest first.
    pub async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        let topic = Value::from(session.0).integer();
        let (after, limit, parts) = (Seq(0), usize::MAX, PartSet::SHOWN);
        self.entries("acts", Entries { topic, after, limit, parts }).await
    }

    /// The rows after this one with which operators accepted a clock, oldest first.
    pub async fn accepted_clocks(&self, after: Seq) -> Result<Vec<LogRow>> {
        let (topic, limit, parts) = (Some(acts::CLOCKS), usize::MAX, PartSet::SHOWN);
        self.entries("accepted clocks", Entries { topic, after, limit, parts }).await
    }

    /// Blocks the commits of this process until [`accept_store`](Self::accept_store), as if the log had gone back.
    /// Called when a log with this number and size was signed that the stored log does not continue. Has no effect
    /// if the stored log, or the one seen, has a higher number than `log`. See
    /// [`SeenLog::mark_went_back`](crate::store::SeenLog::mark_went_back).
    pub fn mark_went_back(&self, log: u64, size: Seq) {
        self.seen.mark_went_back(log, size);
    }

    /// The stored state of the tree over the log; `None` until the first is saved. The tree only serves proofs of
    /// the log: writing it appends no row, and its version is its only guard.
    pub async fn tree(&self) -> Result<Option<Versioned<TreeState>>> {
        let mut found =
            self.read("tree", vec![Query::Rows(Range::key(&trees::TABLE, tree_key()))]).await?;
        found.row().as_ref().map(tree).transpose().map_err(found.corrupt())
    }

    /// Saves a state of the tree, and its tiles, in one step if the stored state has the expected
    /// version. A tile that is stored already is replaced.
    pub async fn save_tree(&self, change: &TreeChange) -> Result<Saved> {
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

    /// The stored tiles of the log with this number, in the order of `tiles`; `None` for those that are
    /// not stored. A tile that a saved state refers to never becomes shorter.
    pub async fn tiles(&self, log: u64, tiles: &[TileId]) -> Result<Vec<Option<Vec<u8>>>> {
        let tile = |id: &TileId| Query::Rows(Range::key(&tiles::TABLE, tile_key(log, *id)));
        let mut found = self.read("tiles", tiles.iter().map(tile).collect()).await?;
        let hashes = |row: Row| row.columns.get(tiles::HASHES)?.bytes().map(<[u8]>::to_vec);
        Ok(tiles.iter().map(|_| found.row().and_then(hashes)).collect())
    }
}

impl Records {
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
        return Ok(Logged::CommitteeTake(committee_rows::read_take(row)?));
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
