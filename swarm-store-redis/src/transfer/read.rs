//! Reads the copies of a dump, page by page.

use std::collections::BTreeMap;

use async_trait::async_trait;
use swarm_core::MemberId;
use swarm_core::domain::{Day, MemberState, MessageId, Seq, SessionId};
use swarm_core::store::{Collection, Dump, Log as _, Result, Stored, StoredDocument, TenantHead};
use swarm_core::{Member, StoreError};

use super::keys_of;
use crate::codec::{self, Context};
use crate::keys::{self, Keys, collection_name};
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::snapshots;
use crate::tenant::TenantStore;

const OP: &str = "dump";

/// How long the copies stay without being read, in milliseconds.
const TTL: u64 = 10 * 60 * 1_000;

/// How many records a page has; of those that may be long, fewer.
const PAGE: u64 = 250;
const PAGE_OF_LONG: u64 = 10;

/// What is read next.
#[derive(Clone, Copy)]
enum Part {
    Head,
    Members,
    Messages(u64),
    /// The place of the collection in [`Collection::ALL`], and the last id that was read.
    Documents(usize, u64),
    Sessions(u64),
    Committee,
    Log(Seq),
    End,
}

pub(super) struct Records {
    tenant: TenantStore,
    copies: Keys,
    head: TenantHead,
    part: Part,
    last_member: Option<MemberId>,
}

impl Records {
    pub(super) async fn begin(tenant: TenantStore, copies: Keys) -> Result<Self> {
        let mut names = keys_of::changing(&tenant.keys)?;
        names.extend(keys_of::changing(&copies)?);
        names.extend([copies.marker(), tenant.keys.counters()]);
        let mut script = tenant.call(&scripts::DUMP, names);
        script.arg(TTL);
        let (log, counters): (u64, BTreeMap<String, u64>) = tenant.read(OP, &script).await?;
        let last = |name: &str| counters.get(name).copied().unwrap_or(0);
        let mut documents = BTreeMap::new();
        for collection in Collection::ALL {
            if let Some(last) = counters.get(collection_name(collection)?) {
                documents.insert(collection, *last);
            }
        }
        let head = TenantHead {
            log: Seq(log),
            messages: MessageId(last("messages")),
            sessions: SessionId(last("sessions")),
            documents,
        };
        Ok(Self { tenant, copies, head, part: Part::Head, last_member: None })
    }

    /// Reads the next part. It may be empty although more parts follow.
    async fn page(&mut self) -> Result<Vec<Stored>> {
        match self.part {
            Part::Head => {
                self.part = Part::Members;
                Ok(vec![Stored::Head(self.head.clone())])
            }
            Part::Members => self.members().await,
            Part::Messages(after) => {
                let rows = self.rows(&self.copies.outbox(), after, PAGE).await?;
                let last = self.head.messages.0;
                self.part = match after + PAGE < last {
                    true => Part::Messages(after + PAGE),
                    false => Part::Documents(0, 0),
                };
                decoded(&rows, |row| Ok(Stored::Message(codec::decode_message(row)?.record)))
            }
            Part::Documents(place, after) => self.documents(place, after).await,
            Part::Sessions(after) => {
                let rows = self.sessions(after).await?;
                self.part = match after + PAGE_OF_LONG < self.head.sessions.0 {
                    true => Part::Sessions(after + PAGE_OF_LONG),
                    false => Part::Committee,
                };
                decoded(&rows, |row| Ok(Stored::Session(codec::decode_session(row)?.record)))
            }
            Part::Committee => {
                self.part = Part::Log(Seq(0));
                self.committee().await
            }
            Part::Log(after) => {
                let left = usize::try_from(self.head.log.0 - after.0).unwrap_or(usize::MAX);
                let rows = self.tenant.log(after, left.min(PAGE as usize)).await?;
                self.part = match rows.last() {
                    Some(last) => Part::Log(last.seq),
                    None => Part::End,
                };
                Ok(rows.into_iter().map(Stored::Log).collect())
            }
            Part::End => Ok(Vec::new()),
        }
    }

    /// The rows with the ids after this one, as far as they exist.
    async fn rows(&self, key: &str, after: u64, count: u64) -> Result<Vec<String>> {
        let ids: Vec<u64> = (after + 1..=after + count).collect();
        let get = redis::cmd("HMGET").arg(key).arg(&ids).to_owned();
        let rows: Vec<Option<String>> = self.tenant.query(OP, &get).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The rows of sessions, whole. Where the snapshot is long, the copy has no more than the figures, and the rest is
    /// that of the session itself: rules do not change the snapshot of a session that has takes.
    async fn sessions(&self, after: u64) -> Result<Vec<String>> {
        let mut rows = self.rows(&self.copies.sessions(), after, PAGE_OF_LONG).await?;
        for row in rows.iter_mut().filter(|row| snapshots::is_cut(row)) {
            let rest = self.tenant.rest(OP, row, snapshots::same_figures).await?;
            let replaced = || StoreError::contended(OP, "a snapshot was replaced: dump again");
            row.push_str(&rest.ok_or_else(replaced)?);
        }
        Ok(rows)
    }

    async fn members(&mut self) -> Result<Vec<Stored>> {
        let keys = [self.copies.members(), self.copies.members_index()];
        let mut script = ScriptCall::of(&scripts::MEMBERS, keys);
        script.arg(self.last_member.as_ref().map_or("", MemberId::as_str)).arg(PAGE);
        for state in MemberState::ALL {
            script.arg(keys::in_state(state.as_str()));
        }
        let rows: Vec<String> = self.tenant.read(OP, &script).await?;
        let decode = |row: &str| Ok(codec::decode_member(row)?.record);
        let mut members = codec::decode_each(&rows, decode).context(OP)?;
        members.sort_by(|one, other| one.id.cmp(&other.id));
        // The limit applies to each state.
        members.truncate(PAGE as usize);
        match members.last() {
            Some(last) => self.last_member = Some(Member::clone(last).id),
            None => self.part = Part::Messages(0),
        }
        Ok(members.into_iter().map(Stored::Member).collect())
    }

    async fn documents(&mut self, place: usize, after: u64) -> Result<Vec<Stored>> {
        let Some(collection) = Collection::ALL.get(place).copied() else {
            self.part = Part::Sessions(0);
            return Ok(Vec::new());
        };
        let last = self.head.documents.get(&collection).copied().unwrap_or(0);
        self.part = match after + PAGE < last {
            true => Part::Documents(place, after + PAGE),
            false => Part::Documents(place + 1, 0),
        };
        if last == 0 {
            return Ok(Vec::new());
        }
        if after == 0 {
            self.index_groups(collection).await?;
        }
        let [rows, ..] = self.copies.collection(collection_name(collection)?);
        let rows = self.rows(&rows, after, PAGE).await?;
        let documents = codec::decode_each(&rows, codec::decode_document).context(OP)?;
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<u64> = documents.iter().map(|document| document.id).collect();
        let groups =
            redis::cmd("HMGET").arg(keys_of::groups(&self.copies, collection)?).arg(ids).to_owned();
        let groups: Vec<Option<String>> = self.tenant.query(OP, &groups).await?;
        let documents = documents.into_iter().zip(groups).map(|(document, group)| {
            let group =
                group.ok_or_else(|| StoreError::corrupt(OP, "a document without a group"))?;
            Ok(Stored::Document(StoredDocument { collection, group, document }))
        });
        documents.collect()
    }

    /// Writes the groups of a collection by id: the index has them in the order of the groups.
    async fn index_groups(&self, collection: Collection) -> Result<()> {
        let [_, _, index] = self.copies.collection(collection_name(collection)?);
        let groups = keys_of::groups(&self.copies, collection)?;
        let mut first = 0;
        loop {
            let keys = [index.clone(), groups.clone()];
            let mut script = ScriptCall::of(&scripts::DUMP_GROUPS, keys);
            script.arg(first).arg(first + PAGE - 1).arg(TTL);
            let found: u64 = self.tenant.read(OP, &script).await?;
            if found < PAGE {
                return Ok(());
            }
            first += PAGE;
        }
    }

    /// Its members, its days, and the briefs of the latest ones.
    async fn committee(&self) -> Result<Vec<Stored>> {
        let all = async |key: String| -> Result<Vec<String>> {
            self.tenant.query(OP, &redis::cmd("HVALS").arg(key).to_owned()).await
        };
        let rows = all(self.copies.committee_members()).await?;
        let decode = |row: &str| Ok(codec::decode_committee_member(row)?.record);
        let mut members = codec::decode_each(&rows, decode).context(OP)?;
        members.sort_by(|one, other| one.id.cmp(&other.id));
        let rows = all(self.copies.committee_days()).await?;
        let decode = |row: &str| Ok(codec::decode_committee_day(row)?.record);
        let mut days = codec::decode_each(&rows, decode).context(OP)?;
        days.sort_by_key(|day| day.date);
        let get = redis::cmd("HGETALL").arg(self.copies.committee_briefs()).to_owned();
        let rows: BTreeMap<String, String> = self.tenant.query(OP, &get).await?;
        let mut briefs = Vec::new();
        for (field, row) in &rows {
            let brief = codec::decode_committee_brief(row).context(OP)?;
            briefs.push((day_of(field)?, brief));
        }
        briefs.sort_by(|one, other| (one.0, &one.1.member_id).cmp(&(other.0, &other.1.member_id)));
        let members = members.into_iter().map(Stored::CommitteeMember);
        let days = days.into_iter().map(Stored::CommitteeDay);
        let briefs = briefs.into_iter().map(|(day, brief)| Stored::CommitteeBrief(day, brief));
        Ok(members.chain(days).chain(briefs).collect())
    }

    /// Extends the lifetime of the copies. Fails if they are gone, because what was read is then incomplete.
    async fn keep(&self) -> Result<()> {
        let mut script = ScriptCall::with(&scripts::KEEP_DUMP, &self.names()?, &[]);
        script.arg(TTL);
        let are_there: bool = self.tenant.read(OP, &script).await?;
        if are_there {
            return Ok(());
        }
        Err(StoreError::unavailable(OP, "nobody read on for ten minutes, and its copies expired"))
    }

    async fn remove(&self) -> Result<()> {
        let remove = redis::cmd("UNLINK").arg(self.names()?).to_owned();
        self.tenant.query::<u64>(OP, &remove).await.map(drop)
    }

    /// The keys of the copies, and of the marker.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = keys_of::changing(&self.copies)?;
        for collection in Collection::ALL {
            names.push(keys_of::groups(&self.copies, collection)?);
        }
        names.push(self.copies.marker());
        Ok(names)
    }
}

fn decoded(
    rows: &[String],
    decode: impl Fn(&str) -> std::result::Result<Stored, codec::Corrupt>,
) -> Result<Vec<Stored>> {
    codec::decode_each(rows, decode).context(OP)
}

/// The day of the field of a brief, which begins with its eight digits.
fn day_of(field: &str) -> Result<Day> {
    let parts = [field.get(..4), field.get(4..6), field.get(6..8)];
    let text = parts.map(Option::unwrap_or_default).join("-");
    Day::parse(&text).map_err(|invalid| StoreError::corrupt(OP, invalid))
}

#[async_trait]
impl Dump for Records {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        loop {
            let records = self.page().await?;
            if matches!(self.part, Part::End) {
                self.remove().await?;
                return Ok(records);
            }
            self.keep().await?;
            if !records.is_empty() {
                return Ok(records);
            }
        }
    }
}
