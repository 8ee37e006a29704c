//! Dump and restore of tenants.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::rows::{Damage, Outcome, read_whole, whole};
use super::tables::{
    COMMITTEE_TAKES, DOCUMENT_BYTES, MESSAGES, SESSIONS, TAKES, committee_briefs, committee_days,
    committee_members, committee_takes, documents, documents_sequence, members, messages, sessions,
    takes,
};
use super::{Answers, Store, acts, committee_rows, log, outbox};
use crate::domain::{
    LogEntry, LogRow, Logged, MessageId, Operation, Seq, SessionId, StoredTake, Take, TakeDraft,
    TenantId,
};
use crate::store::backend::{
    Body, CommitId, Entries, Entry, Head, Item, Load, PartSet, Query, Range, Reference, Row,
    Snapshot, Table, Term, Value, Write,
};
use crate::store::{
    Collection, Restored, Result, SeenLogs, StoreError, Stored, StoredDocument, TenantHead,
    restored_attempt,
};

/// How many records are read at once, if they are short.
const BATCH: usize = 500;

/// How many entries of the log are read first.
const FIRST_ENTRIES: usize = 50;

/// The size of the records that are read at once, in bytes, unless a single one is longer.
const BATCH_BYTES: usize = 4 << 20;

/// Moving tenants to another store: dump and restore.
impl Store {
    /// The tenants that have records other than challenges, by id.
    pub async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.backend.tenants().await
    }

    /// Begins to read all records of a tenant as of now: later commits do not show.
    pub async fn dump(&self, tenant: &TenantId) -> Result<Dump> {
        let snapshot = self.backend.snapshot(tenant).await?;
        let (stages, damage) = (stages(), self.damage.clone());
        Ok(Dump { snapshot, stages, after: None, entries: FIRST_ENTRIES, damage })
    }

    /// Begins to write the records of tenants that have none. Nothing of them can be read before the commit.
    pub async fn restore(&self) -> Result<Restore> {
        let (load, seen) = (self.backend.load().await?, Arc::clone(&self.seen));
        Ok(Restore { load, seen, tenants: BTreeMap::new() })
    }

    /// Removes everything of a tenant: its records, its log and its members' names. There is no way back but a dump. Serve it no more
    /// before: what is committed meanwhile may stay. After an error a part may be left, and another call removes the rest.
    ///
    /// This process [forgets](Self::forget) the tenant. A tenant of the same name begins another log, with a handle that is opened after
    /// this call. To a handle from before, and to another process that has seen the tenant, its log went back: they commit nothing
    /// under the name, and such a process is not [ready](Self::ready), until it forgets the tenant too, or is started again.
    pub async fn remove(&self, tenant: &TenantId) -> Result<()> {
        self.backend.remove(tenant).await?;
        self.forget(tenant);
        Ok(())
    }

    /// Makes this process forget what it has seen of a tenant's log, for one that another process has [removed](Self::remove). Drop the
    /// tenant's handles before. Nothing in the store changes. A tenant that is there is seen again from where its log is then, so this
    /// process does not notice that the log went back before.
    pub fn forget(&self, tenant: &TenantId) {
        self.seen.forget(tenant);
    }

    /// Leaves a tenant that is served no more out of [`ready`](Self::ready), until it is opened again. What was seen of its log is
    /// kept: should it be served again, this process notices if the log went back meanwhile.
    pub fn set_aside(&self, tenant: &TenantId) {
        self.seen.set_aside(tenant);
    }
}

/// What is dumped, in order.
#[derive(Clone, Copy)]
enum Stage {
    Head,
    Members,
    Messages,
    Documents(Collection),
    Sessions,
    CommitteeMembers,
    CommitteeDays,
    CommitteeBriefs,
    Log,
}

/// All stages, in order.
fn stages() -> VecDeque<Stage> {
    let mut stages = VecDeque::from([Stage::Head, Stage::Members, Stage::Messages]);
    stages.extend(Collection::ALL.map(Stage::Documents));
    stages.extend([
        Stage::Sessions,
        Stage::CommitteeMembers,
        Stage::CommitteeDays,
        Stage::CommitteeBriefs,
        Stage::Log,
    ]);
    stages
}

/// The records of a tenant at one moment. Dropping it releases what the store holds for it.
pub struct Dump {
    snapshot: Box<dyn Snapshot>,
    /// The current stage and those after it.
    stages: VecDeque<Stage>,
    /// Where the current stage goes on.
    after: Option<Value>,
    /// How many entries of the log are read next. No query limits their size: it is known once they are read.
    entries: usize,
    damage: Damage,
}

impl std::fmt::Debug for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dump").finish_non_exhaustive()
    }
}

impl Dump {
    /// The next records, at most a few hundred; none at the end.
    ///
    /// So that the dumps of equal tenants are equal, they come in this order: the [`TenantHead`], members, messages, documents (by
    /// collection), sessions, members of the committee, its days, its briefs, and the log with all takes; each kind by id, day or number,
    /// members in the order of the UTF-8 bytes.
    pub async fn next(&mut self) -> Result<Vec<Stored>> {
        while let Some(stage) = self.stages.front().copied() {
            let batch = match stage {
                Stage::Head => vec![Stored::Head(self.head().await?)],
                Stage::Log => self.log().await?,
                other => self.rows(other).await?,
            };
            if matches!(stage, Stage::Head | Stage::CommitteeBriefs) || batch.is_empty() {
                (self.after, _) = (None, self.stages.pop_front());
            }
            if !batch.is_empty() {
                return Ok(batch);
            }
        }
        Ok(Vec::new())
    }

    async fn head(&mut self) -> Result<TenantHead> {
        let named = [MESSAGES, SESSIONS].into_iter();
        let named = named.chain(Collection::ALL.into_iter().map(documents_sequence));
        let reading = self.snapshot.read(named.map(Query::Sequence).collect()).await?;
        let mut found = Answers::new("dump", reading.answers, &self.damage);
        let (messages, sessions) = (MessageId(found.number()), SessionId(found.number()));
        let documents = Collection::ALL.into_iter().map(|collection| (collection, found.number()));
        let documents = documents.filter(|(_, last)| *last > 0).collect();
        Ok(TenantHead { log: reading.head.size, messages, sessions, documents })
    }

    async fn log(&mut self) -> Result<Vec<Stored>> {
        let after = self.after.as_ref().and_then(Value::integer).unwrap_or(0);
        let after = Seq(after.unsigned_abs());
        let limit = self.entries;
        let entries = Entries { topic: None, after, limit, parts: PartSet::ALL };
        let reading = self.snapshot.read(vec![Query::Entries(entries)]).await?;
        let entries = Answers::new("dump", reading.answers, &self.damage).entries();
        self.after = entries.last().map(|entry| entry.seq.0.into());
        let rows = entries.iter().map(|entry| log::read(entry, true));
        let rows: Vec<_> = rows.collect::<Outcome<_>>().map_err(self.damage.corrupt("dump"))?;
        let size: usize = rows.iter().map(size_of_take).sum();
        self.entries = match size {
            ..BATCH_BYTES => (limit * 2).min(BATCH),
            _ => (limit / 2).max(1),
        };
        Ok(rows.into_iter().map(Stored::Log).collect())
    }

    /// The next records of a table, by the column in which `after` continues.
    async fn rows(&mut self, stage: Stage) -> Result<Vec<Stored>> {
        let (range, continued) = range(stage);
        let range = Range {
            after: self.after.clone().map(Term::Value),
            limit: BATCH,
            bytes: BATCH_BYTES,
            ..range
        };
        // The briefs of a day have the same date, so they are read at once.
        let range = match stage {
            Stage::CommitteeBriefs => Range { limit: usize::MAX, bytes: usize::MAX, ..range },
            _ => range,
        };
        let reading = self.snapshot.read(vec![Query::Rows(range)]).await?;
        let rows = Answers::new("dump", reading.answers, &self.damage).rows();
        self.after = rows.last().and_then(|row| row.columns.get(continued).cloned());
        rows.iter()
            .map(|row| stored(stage, row))
            .collect::<Outcome<_>>()
            .map_err(self.damage.corrupt("dump"))
    }
}

/// Returns about how many bytes the take has that an entry refers to. Other records are short.
fn size_of_take(row: &LogRow) -> usize {
    const WEIGHT: usize = 50;
    let Logged::Take(take) = &row.logged else { return 0 };
    let Some(take) = take.whole() else { return 0 };
    let TakeDraft { body, memo_url, weights, .. } = take.draft();
    let weights = weights.iter().flat_map(|weights| weights.entries()).count();
    body.as_str().len() + memo_url.as_str().len() + weights * WEIGHT
}

/// The records of a stage in their order, and the column after the prefix.
fn range(stage: Stage) -> (Range, usize) {
    let all = |table: &'static Table, column| (Range::all(table), column);
    match stage {
        Stage::Messages => all(&messages::TABLE, messages::ID),
        Stage::Documents(collection) => {
            let prefix = vec![collection.as_str().into()];
            (Range::index(&documents::TABLE, documents::BY_ID, prefix), documents::ID)
        }
        Stage::Sessions => all(&sessions::TABLE, sessions::ID),
        Stage::CommitteeMembers => all(&committee_members::TABLE, committee_members::ID),
        Stage::CommitteeDays => all(&committee_days::TABLE, committee_days::DATE),
        Stage::CommitteeBriefs => all(&committee_briefs::TABLE, committee_briefs::DATE),
        Stage::Head | Stage::Members | Stage::Log => all(&members::TABLE, members::ID),
    }
}

fn stored(stage: Stage, row: &Row) -> Outcome<Stored> {
    Ok(match stage {
        Stage::Messages => Stored::Message(Arc::new(outbox::read(row)?)),
        Stage::Documents(collection) => {
            let group = super::rows::text(row, documents::FAMILY)?.to_owned();
            let held_until = super::documents::held_until(row)?;
            let document = super::documents::read(row)?;
            Stored::Document(StoredDocument { collection, group, held_until, document })
        }
        Stage::Sessions => Stored::Session(super::sessions::read(row)?.record),
        Stage::CommitteeMembers => Stored::CommitteeMember(read_whole(row)?),
        Stage::CommitteeDays => Stored::CommitteeDay(read_whole(row)?),
        Stage::CommitteeBriefs => {
            Stored::CommitteeBrief(committee_rows::day_of_brief(row)?, read_whole(row)?)
        }
        Stage::Head | Stage::Members | Stage::Log => Stored::Member(read_whole(row)?),
    })
}

/// Records that are written but not committed yet. Dropping it discards them. If the process is killed, they are discarded too, or at
/// least never read.
pub struct Restore {
    load: Box<dyn Load>,
    seen: Arc<SeenLogs>,
    tenants: BTreeMap<TenantId, Restoring>,
}

/// What the records of a tenant so far amount to.
#[derive(Default)]
struct Restoring {
    head: Head,
    takes: u64,
    committee_takes: u64,
    document_bytes: u64,
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restore").finish_non_exhaustive()
    }
}

impl Restore {
    /// Writes records of a tenant, in the order of [`Dump::next`] and in batches of any size. All records of a tenant are written before
    /// the first of the next one.
    ///
    /// Versions begin at 1. Attempts are not part of a dump, since they only identify a commit that a client library sends twice: takes get
    /// a [`restored_attempt`].
    pub async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let restoring = self.tenants.entry(tenant.clone()).or_default();
        let mut items = Vec::with_capacity(records.len() + 3);
        for record in records {
            restoring.add(record, &mut items)?;
        }
        let Restoring { takes, committee_takes, document_bytes, .. } = *restoring;
        let sequences =
            [(TAKES, takes), (COMMITTEE_TAKES, committee_takes), (DOCUMENT_BYTES, document_bytes)];
        let used = sequences.into_iter().filter(|(_, last)| *last > 0);
        items.extend(used.map(|(name, last)| Item::Sequence(name, last)));
        self.load.write(tenant, items).await
    }

    /// Commits everything, durably; each tenant atomically. Returns [`Restored::Occupied`], with nothing committed, when one of the tenants
    /// has records other than challenges.
    pub async fn commit(self) -> Result<Restored> {
        let Self { load, seen, tenants } = self;
        if let Some(occupied) = load.commit().await? {
            return Ok(Restored::Occupied(occupied));
        }
        for (tenant, restored) in tenants {
            let seen = seen.of(&tenant);
            drop(seen.changing());
            seen.advance(super::position_of(&restored.head));
        }
        Ok(Restored::Complete)
    }

    /// Discards everything at once; dropping it may leave that to the store.
    pub async fn discard(self) -> Result<()> {
        self.load.discard().await
    }
}

impl Restoring {
    /// Adds the items of a record.
    fn add(&mut self, record: Stored, items: &mut Vec<Item>) -> Result<()> {
        let insert = |table, columns: Vec<Value>, body| {
            let columns = columns.into_iter().map(Term::Value).collect();
            Item::Write(Write::Insert { table, columns, body })
        };
        match record {
            Stored::Head(head) => Self::add_head(head, items),
            Stored::Member(member) => items.push(insert(
                &members::TABLE,
                super::members::columns(&member),
                super::members::body((*member).clone()),
            )),
            Stored::Message(message) => {
                let (id, queued, due) = (message.id.0.into(), message.queued_at, message.due_at);
                let columns = outbox::columns(&message, id, queued.into(), due.into());
                let (table, body) = (&messages::TABLE, outbox::body(&message));
                items.push(Item::Write(Write::Insert { table, columns, body }));
            }
            Stored::Document(document) => items.push(self.document(document)),
            Stored::Session(session) => {
                let (id, convened_at) = (session.id.0.into(), session.convened_at.into());
                let columns = super::session_row::columns(&session, id, convened_at);
                let (table, body) =
                    (&sessions::TABLE, super::session_row::body((*session).clone()));
                items.push(Item::Write(Write::Insert { table, columns, body }));
            }
            Stored::CommitteeMember(member) => items.push(insert(
                &committee_members::TABLE,
                committee_rows::member_columns(&member),
                whole((*member).clone()),
            )),
            Stored::CommitteeDay(day) => items.push(insert(
                &committee_days::TABLE,
                committee_rows::day_columns(&day),
                whole((*day).clone()),
            )),
            Stored::CommitteeBrief(date, brief) => items.push(insert(
                &committee_briefs::TABLE,
                committee_rows::brief_columns(date, &brief),
                whole((*brief).clone()),
            )),
            Stored::Log(row) => self.log(row, items)?,
        }
        Ok(())
    }

    fn add_head(head: TenantHead, items: &mut Vec<Item>) {
        let TenantHead { log: _, messages, sessions, documents } = head;
        let named = [(MESSAGES, messages.0), (SESSIONS, sessions.0)].into_iter();
        let documents =
            documents.into_iter().map(|(collection, last)| (documents_sequence(collection), last));
        let used = named.chain(documents).filter(|(_, last)| *last > 0);
        items.extend(used.map(|(name, last)| Item::Sequence(name, last)));
    }

    fn document(&mut self, stored: StoredDocument) -> Item {
        let StoredDocument { collection, group, held_until, document } = stored;
        if collection.has_limited_size() {
            self.document_bytes += super::documents::length(document.json.len());
        }
        let columns = super::documents::Columns {
            id: document.id.into(),
            created_at: document.created_at.into(),
        };
        let name = document.key.into();
        let columns = columns.with(collection, name, &group, &document.json, held_until);
        let body = super::documents::body(document.json);
        Item::Write(Write::Insert { table: &documents::TABLE, columns, body })
    }

    fn log(&mut self, row: LogRow, items: &mut Vec<Item>) -> Result<()> {
        let LogRow { at, logged, .. } = row;
        let seq = Seq(self.head.size.0.saturating_add(1));
        let (mut topic, mut body) = (None, Body::empty());
        let reference = match logged {
            Logged::Take(StoredTake::Whole(take)) => {
                self.takes = take.id.0;
                add_take(&take, items);
                Some((&takes::TABLE, take.id.0))
            }
            Logged::Take(StoredTake::Sealed(take)) => {
                let why = format!("a dump has take {} without what it says", take.shown.id);
                return Err(StoreError::corrupt("restore", why));
            }
            Logged::CommitteeTake(take) => {
                self.committee_takes += 1;
                let id = self.committee_takes;
                let superseded = vec![
                    take.member_id.as_str().into(),
                    take.date.to_string().into(),
                    take.subject_id.as_str().into(),
                ];
                let table = &committee_takes::TABLE;
                let range = Range::index(table, committee_takes::BY_SUBJECT, superseded);
                let (column, value) = (committee_takes::CURRENT, Value::Null.into());
                items.push(Item::Write(Write::Set { range, column, value }));
                let attempt = restored_attempt(id).0;
                let columns = committee_rows::take_columns(
                    &take,
                    attempt,
                    id.into(),
                    take.received_at.into(),
                    true,
                );
                let body = whole((*take).clone());
                items.push(Item::Write(Write::Insert { table, columns, body }));
                Some((table, id))
            }
            Logged::TakeMark(session, entry) => {
                topic = Value::from(session.0).integer();
                body = acts::body(&LogEntry::clone(&entry).into());
                None
            }
            Logged::Entry(entry) => match &*entry {
                LogEntry::Opening(opening) => {
                    body = acts::opening();
                    Some((&takes::TABLE, opening.id.0))
                }
                other => {
                    if let LogEntry::Operation(Operation::StoreAccepted { log, .. }) = other {
                        self.head.log = *log;
                    }
                    topic = acts::topic(other);
                    body = acts::body(&other.clone().into());
                    None
                }
            },
        };
        let commit = CommitId(restored_attempt(seq.0).0);
        let reference = reference.map(|(table, key)| Reference { table, key, row: None });
        self.head = Head { log: self.head.log, size: seq, at: Some(at), commit: Some(commit) };
        let entry = Entry { seq, at, commit, topic, assigned: None, reference, body };
        items.push(Item::Entry(self.head.log, entry));
        Ok(())
    }
}

fn add_take(take: &Take, items: &mut Vec<Item>) {
    let table = &takes::TABLE;
    if let Some(before) = take.revision.get().checked_sub(1).filter(|it| *it > 0) {
        let superseded = vec![
            take.draft().member_id.as_str().into(),
            take.session_id.0.into(),
            u64::from(before).into(),
        ];
        let range = Range::index(table, takes::BY_REVISION, superseded);
        let (column, value) = (takes::CURRENT, Value::Null.into());
        items.push(Item::Write(Write::Set { range, column, value }));
    }
    let draft = take.draft();
    let authored = super::takes::Authored {
        member: draft.member_id.as_str().into(),
        nonce: draft.nonce.as_str().into(),
        attempt: restored_attempt(take.id.0),
    };
    let columns = authored.columns(take, take.id.0.into(), take.filed_at.into());
    let body = super::takes::body(take.clone());
    items.push(Item::Write(Write::Insert { table, columns, body }));
}
