//! Writes the records of a restore, and commits it.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{LogEntry, LogRow, Logged, Member, Operation, Session};
use swarm_core::proof::hex;
use swarm_core::store::{
    Log as _, Restore, Restored, Result, Stored, StoredDocument, TenantHead, restored_attempt,
};
use swarm_core::{StoreError, Take, TenantId};

use super::keys_of;
use super::operations::Operations;
use crate::RedisStore;
use crate::changes;
use crate::codec;
use crate::committee::{self, brief_field, by_on, on};
use crate::documents::in_group;
use crate::keys::{self, BY_KEY, Keys, collection_name, filed_by, with_number};
use crate::scripts;
use crate::sessions::{all, published_at};
use crate::snapshots;
use crate::tenant::TenantStore;

const OP: &str = "restore";

/// The version of a restored record.
const FIRST: swarm_core::domain::Version = swarm_core::domain::Version(1);

pub(super) struct Restoration {
    store: RedisStore,
    tenants: BTreeMap<TenantId, Staged>,
}

/// A tenant whose records are written, under keys of its own.
struct Staged {
    tenant: TenantStore,
    keys: Keys,
    /// The keys that were written.
    written: BTreeSet<String>,
    batches: u64,
    log: u64,
    submissions: u64,
    /// The size of the documents whose size is limited.
    document_bytes: usize,
}

impl Restoration {
    pub(super) fn new(store: RedisStore) -> Self {
        Self { store, tenants: BTreeMap::new() }
    }
}

#[async_trait]
impl Restore for Restoration {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        if !self.tenants.contains_key(tenant) {
            let keys = keys_of::apart("restore", tenant)?;
            let (written, tenant_store) = (BTreeSet::new(), self.store.tenant(tenant));
            let staged = Staged {
                tenant: tenant_store,
                keys,
                written,
                batches: 0,
                log: 1,
                submissions: 0,
                document_bytes: 0,
            };
            self.tenants.insert(tenant.clone(), staged);
        }
        match self.tenants.get_mut(tenant) {
            Some(staged) => staged.write(records).await,
            None => Ok(()),
        }
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        // Most conflicts show before any tenant is committed.
        for tenant in self.tenants.keys() {
            if self.store.is_used(OP, tenant).await? {
                let occupied = Restored::Occupied(tenant.clone());
                self.discard().await?;
                return Ok(occupied);
            }
        }
        for (id, staged) in &self.tenants {
            if !staged.commit().await? {
                let occupied = Restored::Occupied(id.clone());
                self.discard().await?;
                return Ok(occupied);
            }
        }
        Ok(Restored::Complete)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        for staged in self.tenants.values() {
            staged.remove().await?;
        }
        Ok(())
    }
}

impl Staged {
    async fn write(&mut self, records: Vec<Stored>) -> Result<()> {
        let mut operations = Operations::new(&self.keys);
        for record in &records {
            self.add(record, &mut operations)?;
        }
        self.written.extend(operations.written().iter().cloned());
        self.batches += 1;
        operations.write(&self.tenant, self.batches).await
    }

    /// Whether the tenant had no records, and has these now.
    async fn commit(&self) -> Result<bool> {
        self.tenant.mark(OP).await?;
        let guards = keys_of::records(&self.tenant.keys)?;
        let mut names = vec![self.tenant.attempt(OP)?];
        names.extend(guards.iter().cloned());
        for written in &self.written {
            let name = written.strip_prefix(&self.keys.prefix()).unwrap_or_default();
            names.extend([written.clone(), self.tenant.keys.prefix() + name]);
        }
        let mut script = self.tenant.call(&scripts::COMMIT_RESTORE, names);
        script.arg(guards.len());
        let _changing = self.tenant.seen.changing();
        // If the announcement fails, the next call of `changes` makes it.
        let _announced = changes::announce(&self.tenant.client, &self.tenant.id).await;
        let outcome: String = self.tenant.client.commit(OP, &script, &self.tenant.keys).await?;
        match outcome.as_str() {
            "restored" => {
                self.remove().await?;
                self.tenant.log_position().await?;
                Ok(true)
            }
            "occupied" => Ok(false),
            _ => Err(StoreError::corrupt(OP, "odd answer")),
        }
    }

    /// Removes the remaining keys.
    async fn remove(&self) -> Result<()> {
        let names: Vec<_> = self.written.iter().cloned().chain([self.keys.marker()]).collect();
        for names in names.chunks(500) {
            let remove = redis::cmd("UNLINK").arg(names).to_owned();
            self.tenant.client.query::<u64>(OP, &remove).await?;
        }
        Ok(())
    }

    fn add(&mut self, record: &Stored, to: &mut Operations) -> Result<()> {
        let keys = &self.keys;
        match record {
            Stored::Head(head) => add_head(keys, head, to)?,
            Stored::Member(member) => add_member(keys, member, to),
            Stored::Message(message) => {
                let id = message.id.0;
                to.set(keys.outbox(), id, codec::encode_message(FIRST, message));
                let listing = keys::in_state(message.state.as_str());
                to.list(keys.outbox_index(), with_number(&listing, id));
            }
            Stored::Document(document) => {
                add_document(keys, document, to)?;
                if document.collection.has_limited_size() {
                    self.document_bytes += document.document.json.len();
                    to.set(keys.counters(), "document-bytes", self.document_bytes);
                }
            }
            Stored::Session(session) => add_session(keys, session, to),
            Stored::CommitteeMember(member) => {
                let row = codec::encode_committee_member(FIRST, member);
                to.set(keys.committee_members(), &member.id, row);
                to.set(keys.committee_keys(), codec::encode_hash(&member.key), &member.id);
            }
            Stored::CommitteeDay(day) => {
                let number = committee::number(day.date);
                to.set(keys.committee_days(), number, codec::encode_committee_day(FIRST, day));
                if let Some(made) = &day.generation {
                    let about = keys::listing(&["about", made.subject_id.as_str()]);
                    for listing in [committee::all(), about] {
                        to.list(keys.committee_days_index(), with_number(&listing, number));
                    }
                }
            }
            Stored::CommitteeBrief(date, brief) => {
                let field = brief_field(*date, brief.member_id.as_str());
                to.set(keys.committee_briefs(), field, codec::encode_committee_brief(brief));
            }
            Stored::Log(row) => self.add_log_row(row, to),
        }
        Ok(())
    }

    fn add_log_row(&mut self, row: &LogRow, to: &mut Operations) {
        let (keys, seq, at) = (&self.keys, row.seq, row.at.millis());
        match &row.logged {
            Logged::Take(take) => {
                add_take(keys, take, to);
                to.push(keys.log(), format_args!("t {} {at}", take.id));
            }
            Logged::CommitteeTake(take) => {
                self.submissions += 1;
                add_submission(keys, take, self.submissions, to);
                to.push(keys.log(), format_args!("c {} {at}", self.submissions));
            }
            Logged::Entry(entry) => {
                let text = format!("a {at} {}", entry.to_text());
                if let Some(session) = entry.session() {
                    to.line(keys.acts(), session.0, format!("{seq} {text}"));
                }
                to.push(keys.log(), text);
                match **entry {
                    LogEntry::Operation(Operation::StoreAccepted { log, .. }) => self.log = log,
                    LogEntry::Operation(Operation::ClockAccepted { .. }) => {
                        to.set(keys.takes(), "clock", "accepted");
                    }
                    _ => {}
                }
            }
        }
        to.set(self.keys.takes(), "log", format_args!("{} {seq} {at}", self.log));
    }
}

fn add_head(keys: &Keys, head: &TenantHead, to: &mut Operations) -> Result<()> {
    let last = [("messages", head.messages.0), ("sessions", head.sessions.0)];
    for (kind, last) in last.into_iter().filter(|(_, last)| *last > 0) {
        to.set(keys.counters(), kind, last);
    }
    for (collection, last) in &head.documents {
        to.set(keys.counters(), collection_name(*collection)?, last);
    }
    Ok(())
}

fn add_member(keys: &Keys, member: &Member, to: &mut Operations) {
    let id = member.id.as_str();
    to.set(keys.members(), id, codec::encode_member(FIRST, member));
    to.set(keys.takes(), format_args!("member:{id}"), FIRST);
    to.list(keys.members_index(), keys::in_state(member.state.as_str()) + id);
    if let Some(token) = codec::encode_token(member) {
        to.set(keys.tokens(), token, id);
    }
    if let Some(key) = member.held_key() {
        to.set(keys.held_keys(), key, id);
    }
}

fn add_document(keys: &Keys, stored: &StoredDocument, to: &mut Operations) -> Result<()> {
    let StoredDocument { collection, group, document } = stored;
    let [rows, names, index] = keys.collection(collection_name(*collection)?);
    to.set(rows, document.id, codec::encode_document(document));
    to.set(names, &document.key, document.id);
    to.list(index.clone(), with_number(&in_group(group), document.id));
    to.list(index, format!("{BY_KEY}{}", document.key));
    Ok(())
}

fn add_session(keys: &Keys, session: &Session, to: &mut Operations) {
    let id = session.id.0;
    let (row, pieces) = snapshots::divided(codec::encode_session(FIRST, session));
    to.set(keys.sessions(), id, row);
    for piece in pieces {
        to.push(keys.session_snapshot(session.id), piece);
    }
    to.set(keys.takes(), format_args!("session:{id}"), FIRST);
    let on = keys::sessions_on(&session.date.to_string(), session.subject_id.as_str());
    let published = session.published_at.map(published_at);
    let state = keys::in_state(session.state.as_str());
    let about = keys::sessions_about(session.subject_id.as_str());
    let listings = [Some(all()), Some(state), Some(on.clone()), Some(about), published];
    for listing in listings.into_iter().flatten() {
        to.list(keys.sessions_index(), with_number(&listing, id));
    }
    // Sessions come in the order of their ids, so the newest is the last.
    to.set(keys.takes(), format_args!("newest:{on}"), id);
}

fn add_take(keys: &Keys, take: &Take, to: &mut Operations) {
    let (id, session, draft) = (take.id.0, take.session_id, take.draft());
    let (member, nonce) = (draft.member_id.as_str(), draft.nonce.as_str());
    to.set(keys.takes(), id, codec::encode_take(take));
    let attempt = hex(&restored_attempt(id).0);
    let spent = format!("nonce:{}:{member}{nonce}", member.len());
    to.set(keys.takes(), spent, format_args!("{attempt} {id}"));
    to.list(keys.takes_index(), with_number(&filed_by(member), session.0));
    to.revision(keys.takes(), format!("latest:{session}:{member}"), take.revision.get(), id);
    to.set(keys.takes(), "last", id);
    to.push(keys.session_takes(session), id);
}

fn add_submission(keys: &Keys, take: &CommitteeTake, id: u64, to: &mut Operations) {
    let by = by_on(&take.member_id, take.date);
    let attempt = hex(&restored_attempt(id).0);
    to.set(keys.committee_takes(), id, codec::encode_committee_take(take));
    to.set(keys.committee_attempts(), format_args!("{by}{attempt}"), id);
    to.count(keys.committee_counts(), &by);
    to.set(keys.counters(), "committee takes", id);
    to.list(keys.committee_takes_index(), with_number(&on(take.date), id));
    let field = format!("{by}{}", take.subject_id.as_str());
    to.latest(keys.committee_latest(), keys.committee_takes_index(), field, by, id);
}
