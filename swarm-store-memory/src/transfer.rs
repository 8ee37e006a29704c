//! Dump and restore of tenants.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock, RwLockWriteGuard};
use std::vec::IntoIter;

use async_trait::async_trait;
use swarm_core::domain::{LogRow, Logged, Member, MessageId, Session, Take};
use swarm_core::store::{
    Collection, Dump, MemberChange, Restore, Restored, Result, Stored, StoredDocument, TenantHead,
    Transfer, restored_attempt,
};
use swarm_core::{TenantId, Timestamp};

use crate::log_rows::Row;
use crate::records::{Records as CommitteeRecords, Submitted};
use crate::world::{DocumentCollection, SpentNonce, World, first, next_id};
use crate::{MemoryStore, lock_to_read, lock_to_write, members};

/// How many records a dump returns at once.
const BATCH: usize = 500;

#[async_trait]
impl Transfer for MemoryStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let worlds = lock_to_read(&self.worlds);
        let used = worlds.iter().filter(|(_, world)| !lock_to_read(world).is_empty());
        let mut ids: Vec<_> = used.map(|(id, _)| id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let world = self.world(tenant);
        let world = lock_to_read(&world);
        let (records, rows) = (records(&world), world.log.rows.clone());
        Ok(Box::new(Records { records: records.into_iter(), rows: rows.into_iter() }))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        Ok(Box::new(Restoration { store: self.clone(), worlds: BTreeMap::new() }))
    }
}

/// The records that a dump has not returned yet; most are shared with the store.
struct Records {
    records: IntoIter<Stored>,
    /// The rows of the log, which come after the others.
    rows: IntoIter<Row>,
}

#[async_trait]
impl Dump for Records {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        let mut batch: Vec<_> = self.records.by_ref().take(BATCH).collect();
        for row in self.rows.by_ref().take(BATCH - batch.len()) {
            batch.push(Stored::Log(row.read()?));
        }
        Ok(batch)
    }
}

/// Tenants that are restored. They replace those of the store at the commit.
struct Restoration {
    store: MemoryStore,
    worlds: BTreeMap<TenantId, World>,
}

#[async_trait]
impl Restore for Restoration {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let world = self.worlds.entry(tenant.clone()).or_default();
        records.into_iter().for_each(|record| write(world, record));
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        let Self { store, worlds } = *self;
        let opened: Vec<_> = worlds.keys().map(|id| store.world(id)).collect();
        // In the order of the ids, so that two restores do not block each other.
        let mut current: Vec<_> = opened.iter().map(lock).collect();
        for (id, world) in worlds.keys().zip(&current) {
            if !world.is_empty() {
                return Ok(Restored::Occupied(id.clone()));
            }
        }
        for ((id, restored), world) in worlds.into_iter().zip(&mut current) {
            let seen = store.seen.of(&id);
            let _changing = seen.changing();
            world.replace_records(restored);
            seen.advance(world.log.position());
        }
        Ok(Restored::Complete)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn lock(world: &Arc<RwLock<World>>) -> RwLockWriteGuard<'_, World> {
    lock_to_write(world)
}

/// The records of a tenant except its log, in the order of a dump.
fn records(world: &World) -> Vec<Stored> {
    let mut records = vec![Stored::Head(head(world))];
    let mut members: Vec<_> = world.members.values().map(|row| &row.member.record).collect();
    members.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    records.extend(members.into_iter().map(|member| Stored::Member(Arc::clone(member))));
    let messages = world.outbox.iter().map(|message| Arc::clone(&message.record));
    records.extend(messages.map(Stored::Message));
    for collection in Collection::ALL {
        if let Some(documents) = world.documents.get(&collection) {
            records.extend(of_collection(collection, documents));
        }
    }
    let sessions = world.sessions.all().map(|row| Arc::clone(&row.session.record));
    records.extend(sessions.map(Stored::Session));
    let committee = &world.committee;
    let members = committee.members.values().map(|member| Arc::clone(&member.record));
    records.extend(members.map(Stored::CommitteeMember));
    let days = committee.days.values().map(|day| Arc::clone(&day.record));
    records.extend(days.map(Stored::CommitteeDay));
    for (day, briefs) in &committee.briefs {
        let of_day = |brief| Stored::CommitteeBrief(*day, Arc::clone(brief));
        records.extend(briefs.values().map(of_day));
    }
    records
}

fn head(world: &World) -> TenantHead {
    let last = |collection: &DocumentCollection| collection.documents.last().map(|it| it.id);
    let documents = world.documents.iter();
    TenantHead {
        log: world.log.position().size,
        messages: world.outbox.last().map_or(MessageId(0), |message| message.record.id),
        sessions: world.last_session(),
        documents: documents.filter_map(|(kind, all)| Some((*kind, last(all)?))).collect(),
    }
}

/// The documents of a collection, each with its group.
fn of_collection(
    collection: Collection,
    documents: &DocumentCollection,
) -> impl Iterator<Item = Stored> {
    let places = documents.groups.iter();
    let groups: HashMap<usize, &String> =
        places.flat_map(|(group, places)| places.iter().map(move |it| (*it, group))).collect();
    documents.documents.iter().enumerate().map(move |(place, document)| {
        let group = groups.get(&place).map(|group| (*group).clone()).unwrap_or_default();
        Stored::Document(StoredDocument { collection, group, document: document.clone() })
    })
}

/// Writes a restored record, and adds it to the indexes.
fn write(world: &mut World, record: Stored) {
    match record {
        Stored::Head(_) => {}
        Stored::Member(record) => member(world, &record),
        Stored::Message(message) => world.outbox.push(first(Arc::unwrap_or_clone(message))),
        Stored::Document(document) => self::document(world, document),
        Stored::Session(session) => self::session(world, Arc::unwrap_or_clone(session)),
        Stored::CommitteeMember(member) => {
            world.committee.keys.insert(member.key, member.id.clone());
            let id = member.id.clone();
            world.committee.members.insert(id, first(Arc::unwrap_or_clone(member)));
        }
        Stored::CommitteeDay(day) => {
            world.committee.days.insert(day.date, first(Arc::unwrap_or_clone(day)));
        }
        Stored::CommitteeBrief(date, brief) => {
            let briefs = world.committee.briefs.entry(date).or_default();
            briefs.insert(brief.member_id.clone(), brief);
        }
        Stored::Log(row) => log_row(world, row),
    }
}

fn member(world: &mut World, member: &Member) {
    members::commit(world, &MemberChange::creation(member.clone()), Timestamp::EPOCH);
}

fn document(world: &mut World, stored: StoredDocument) {
    let StoredDocument { collection, group, document } = stored;
    if collection.has_limited_size() {
        world.document_bytes += document.json.len() as u64;
    }
    let collection = world.documents.entry(collection).or_default();
    let place = collection.documents.len();
    collection.keys.insert(document.key.clone(), place);
    collection.groups.entry(group).or_default().push(place);
    collection.documents.push(document);
}

fn session(world: &mut World, session: Session) {
    let subjects = world.days.entry(session.date).or_default();
    subjects.entry(session.subject_id.clone()).or_default().push(session.id);
    world.sessions.write(first(session));
}

fn log_row(world: &mut World, row: LogRow) {
    match &row.logged {
        Logged::Take(take) => self::take(world, take),
        Logged::CommitteeTake(take) => {
            let CommitteeRecords { takes, .. } = &mut world.committee;
            let number = next_id(takes.values().map(Vec::len).sum());
            let attempt = restored_attempt(number);
            let submitted = Submitted { attempt, take: Arc::clone(take) };
            takes.entry(take.date).or_default().push(submitted);
        }
        Logged::Entry(_) => {}
    }
    world.log.restore(row);
}

fn take(world: &mut World, take: &Arc<Take>) {
    let draft = take.draft();
    if let Some(member) = world.members.get_mut(&draft.member_id) {
        let spent = SpentNonce { attempt: restored_attempt(take.id.0), take: take.id };
        member.nonces.insert(draft.nonce.clone(), spent);
        member.sessions.insert(take.session_id);
    }
    if let Some(session) = world.sessions.get_mut(take.session_id) {
        session.takes.push(take.id);
        session.revisions.entry(draft.member_id.clone()).or_default().push(take.id);
    }
    world.takes.push(Arc::clone(take));
}
