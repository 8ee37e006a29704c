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

use crate::committee_records::{CommitteeRecords, Submitted};
use crate::log_rows::Row;
use crate::tenant_records::{DocumentCollection, SpentNonce, TenantRecords, first, next_id};
use crate::{MemoryStore, lock_to_read, lock_to_write, members};

/// How many records a dump returns at once.
const BATCH: usize = 500;

#[async_trait]
impl Transfer for MemoryStore {
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let tenants = lock_to_read(&self.tenants);
        let used = tenants.iter().filter(|(_, tenant)| !lock_to_read(tenant).is_empty());
        let mut ids: Vec<_> = used.map(|(id, _)| id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let tenant = self.records(tenant);
        let tenant = lock_to_read(&tenant);
        let (records, rows) = (records(&tenant), tenant.log.rows.clone());
        Ok(Box::new(MemoryDump { records: records.into_iter(), rows: rows.into_iter() }))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        Ok(Box::new(Restoration { store: self.clone(), tenants: BTreeMap::new() }))
    }
}

/// The records that a dump has not returned yet; most are shared with the store.
struct MemoryDump {
    records: IntoIter<Stored>,
    /// The rows of the log, which come after the others.
    rows: IntoIter<Row>,
}

#[async_trait]
impl Dump for MemoryDump {
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
    tenants: BTreeMap<TenantId, TenantRecords>,
}

#[async_trait]
impl Restore for Restoration {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        let tenant = self.tenants.entry(tenant.clone()).or_default();
        records.into_iter().for_each(|record| write(tenant, record));
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        let Self { store, tenants } = *self;
        let opened: Vec<_> = tenants.keys().map(|id| store.records(id)).collect();
        // In the order of the ids, so that two restores do not block each other.
        let mut current: Vec<_> = opened.iter().map(lock).collect();
        for (id, tenant) in tenants.keys().zip(&current) {
            if !tenant.is_empty() {
                return Ok(Restored::Occupied(id.clone()));
            }
        }
        for ((id, restored), tenant) in tenants.into_iter().zip(&mut current) {
            let seen = store.seen.of(&id);
            let _changing = seen.changing();
            tenant.replace_records(restored);
            seen.advance(tenant.log.position());
        }
        Ok(Restored::Complete)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn lock(tenant: &Arc<RwLock<TenantRecords>>) -> RwLockWriteGuard<'_, TenantRecords> {
    lock_to_write(tenant)
}

/// The records of a tenant except its log, in the order of a dump.
fn records(tenant: &TenantRecords) -> Vec<Stored> {
    let mut records = vec![Stored::Head(head(tenant))];
    let mut members: Vec<_> = tenant.members.values().map(|row| &row.member.record).collect();
    members.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    records.extend(members.into_iter().map(|member| Stored::Member(Arc::clone(member))));
    let messages = tenant.outbox.iter().map(|message| Arc::clone(&message.record));
    records.extend(messages.map(Stored::Message));
    for collection in Collection::ALL {
        if let Some(documents) = tenant.documents.get(&collection) {
            records.extend(of_collection(collection, documents));
        }
    }
    let sessions = tenant.sessions.all().map(|row| Arc::clone(&row.session.record));
    records.extend(sessions.map(Stored::Session));
    let committee = &tenant.committee;
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

fn head(tenant: &TenantRecords) -> TenantHead {
    let last = |collection: &DocumentCollection| collection.documents.last().map(|it| it.id);
    let documents = tenant.documents.iter();
    TenantHead {
        log: tenant.log.position().size,
        messages: tenant.outbox.last().map_or(MessageId(0), |message| message.record.id),
        sessions: tenant.last_session(),
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
fn write(tenant: &mut TenantRecords, record: Stored) {
    match record {
        Stored::Head(_) => {}
        Stored::Member(record) => member(tenant, &record),
        Stored::Message(message) => tenant.outbox.push(first(Arc::unwrap_or_clone(message))),
        Stored::Document(document) => self::document(tenant, document),
        Stored::Session(session) => self::session(tenant, Arc::unwrap_or_clone(session)),
        Stored::CommitteeMember(member) => {
            tenant.committee.keys.insert(member.key, member.id.clone());
            let id = member.id.clone();
            tenant.committee.members.insert(id, first(Arc::unwrap_or_clone(member)));
        }
        Stored::CommitteeDay(day) => {
            tenant.committee.days.insert(day.date, first(Arc::unwrap_or_clone(day)));
        }
        Stored::CommitteeBrief(date, brief) => {
            let briefs = tenant.committee.briefs.entry(date).or_default();
            briefs.insert(brief.member_id.clone(), brief);
        }
        Stored::Log(row) => log_row(tenant, row),
    }
}

fn member(tenant: &mut TenantRecords, member: &Member) {
    members::commit(tenant, &MemberChange::creation(member.clone()), Timestamp::EPOCH);
}

fn document(tenant: &mut TenantRecords, stored: StoredDocument) {
    let StoredDocument { collection, group, document } = stored;
    if collection.has_limited_size() {
        tenant.document_bytes += document.json.len() as u64;
    }
    let collection = tenant.documents.entry(collection).or_default();
    let place = collection.documents.len();
    collection.keys.insert(document.key.clone(), place);
    collection.groups.entry(group).or_default().push(place);
    collection.documents.push(document);
}

fn session(tenant: &mut TenantRecords, session: Session) {
    let subjects = tenant.days.entry(session.date).or_default();
    subjects.entry(session.subject_id.clone()).or_default().push(session.id);
    tenant.sessions.write(first(session));
}

fn log_row(tenant: &mut TenantRecords, row: LogRow) {
    match &row.logged {
        Logged::Take(take) => self::take(tenant, take),
        Logged::CommitteeTake(take) => {
            let CommitteeRecords { takes, .. } = &mut tenant.committee;
            let number = next_id(takes.values().map(Vec::len).sum());
            let attempt = restored_attempt(number);
            let submitted = Submitted { attempt, take: Arc::clone(take) };
            takes.entry(take.date).or_default().push(submitted);
        }
        Logged::Entry(_) => {}
    }
    tenant.log.restore(row);
}

fn take(tenant: &mut TenantRecords, take: &Arc<Take>) {
    let draft = take.draft();
    if let Some(member) = tenant.members.get_mut(&draft.member_id) {
        let spent = SpentNonce { attempt: restored_attempt(take.id.0), take: take.id };
        member.nonces.insert(draft.nonce.clone(), spent);
        member.sessions.insert(take.session_id);
    }
    if let Some(session) = tenant.sessions.get_mut(take.session_id) {
        session.takes.push(take.id);
        session.revisions.entry(draft.member_id.clone()).or_default().push(take.id);
    }
    tenant.takes.push(Arc::clone(take));
}
