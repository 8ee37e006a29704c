//! Dry runs: a store that answers a commit as the store behind it would, and commits nothing.
//!
//! It answers changes of operators: it reads, and compares the guards of the change with what it read. All other
//! reads are passed on, and [`ReadOnly`] refuses all other commits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::interceptor::intercepted;
use super::{
    Act, Aggregated, Aggregation, Collection, Committee, CommitteeDayChange, CommitteeMemberChange,
    CommitteeStore, Convocation, Countable, CountedDocuments, DeliveryChange, DeliveryQuery,
    Document, DocumentDraft, DocumentGuard, Documents, Interceptor, Log, MemberChange, MemberQuery,
    MemberSaved, Members, MessageChange, MessageQuery, Outbox, Put, Queued, QueuedMail, ReadOnly,
    Result, Saved, SessionChange, Sessions, Store, TakeMarks, TakeQuery, Takes, WebhookChange,
    Webhooks, async_trait,
};
use crate::domain::{
    Delivery, DeliveryId, MemberId, MemberState, MessageId, Seq, Session, SessionId, Timestamp,
    Version,
};
use crate::rules::Refusal;

/// A tenant's records for a dry run. An id that a commit would assign is 0.
pub(crate) fn dry_run(store: Arc<dyn Store>) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = intercepted(store, Arc::new(ReadOnly));
    let dry_run = DryRun { store: Arc::clone(&store), without_key: Mutex::default() };
    intercepted(store, Arc::new(dry_run))
}

/// A store for dry runs of changes of a committee.
pub(crate) fn dry_run_of_committee(store: Arc<dyn CommitteeStore>) -> Arc<dyn CommitteeStore> {
    intercepted(intercepted(store, Arc::new(ReadOnly)), Arc::new(CommitteeDryRun))
}

struct DryRun {
    store: Arc<dyn Store>,
    /// The members that an earlier change of this dry run would have left without a key.
    without_key: Mutex<HashSet<MemberId>>,
}

/// Number of takes read at a time.
const TAKES_AT_ONCE: usize = 1_000;

impl DryRun {
    /// Another member that holds the key of this change.
    async fn other_holder(&self, change: &MemberChange) -> Result<Option<MemberId>> {
        let Some(key) = change.held_key() else { return Ok(None) };
        let holding = MemberState::ALL.into_iter().filter(|state| state.holds_key());
        let holding = MemberQuery::in_states(&holding.collect::<Vec<_>>());
        let members = self.store.members(&holding).await?;
        let without_key = self.without_key.lock().unwrap_or_else(PoisonError::into_inner);
        let holder = members.iter().find(|member| {
            member.public_key.as_ref() == Some(key)
                && member.id != change.member.id
                && !without_key.contains(&member.id)
        });
        Ok(holder.map(|member| member.id.clone()))
    }

    async fn is_full(&self, change: &MemberChange) -> Result<bool> {
        let Some(quota) = change.quota else { return Ok(false) };
        let members = self.store.count(Countable::Members(change.member.state)).await?;
        Ok(members >= u64::from(quota))
    }

    /// Whether the takes of a session satisfy the guards of its change.
    async fn takes_hold(&self, change: &SessionChange) -> Result<bool> {
        let SessionChange { takes, none_filed_after, .. } = change;
        if takes.is_none() && none_filed_after.is_none() {
            return Ok(true);
        }
        let (mut counted, mut query) = (0, TakeQuery::all(change.session.id));
        query.limit = TAKES_AT_ONCE;
        loop {
            let found = self.store.session_takes(&query).await?;
            let page = found.map(|found| found.takes).unwrap_or_default();
            let Some(last) = page.last() else {
                return Ok(takes.is_none_or(|takes| takes == counted));
            };
            if none_filed_after.is_some_and(|end| page.iter().any(|take| take.filed_at > end)) {
                return Ok(false);
            }
            (counted, query.after) = (counted + page.len(), last.id);
        }
    }

    async fn guard_holds(&self, guard: Option<&DocumentGuard>) -> Result<bool> {
        Ok(match guard {
            None => true,
            Some(DocumentGuard::Member(id, version)) => {
                let member = self.store.member(id).await?.member;
                member.is_some_and(|member| member.version == *version)
            }
            Some(DocumentGuard::Session(id, version)) => {
                is_at(self.store.session(*id).await?.map(|it| it.version), *version)
            }
            Some(DocumentGuard::ReplacedSession(session, version)) => {
                is_at(self.store.session(session.id).await?.map(|it| it.version), *version)
            }
        })
    }

    /// Whether a new document would exceed the maximum number.
    async fn is_one_too_many(&self, collection: Collection, draft: &DocumentDraft) -> Result<bool> {
        let Some(count) = draft.quota.and_then(|quota| quota.count) else { return Ok(false) };
        let Some(older) = count.most.checked_sub(1) else { return Ok(true) };
        let older = usize::try_from(older).unwrap_or(usize::MAX);
        let group = Some(draft.group.as_str()).filter(|_| count.of == CountedDocuments::Group);
        let counted = self.store.documents(collection, group).await?;
        let nth_newest = counted.iter().rev().nth(older);
        Ok(nth_newest.is_some_and(|document| count.counts(document.created_at)))
    }

    /// Whether this document would exceed the maximum size of all documents whose size is limited.
    async fn is_too_large(
        &self,
        collection: Collection,
        draft: &DocumentDraft,
        replaced: usize,
    ) -> Result<bool> {
        let most = draft.quota.and_then(|quota| quota.bytes);
        let Some(most) = most.filter(|_| draft.json.len() > replaced) else { return Ok(false) };
        if !collection.has_limited_size() {
            return Ok(false);
        }
        let mut bytes = draft.json.len();
        for limited in Collection::ALL.into_iter().filter(|it| it.has_limited_size()) {
            let documents = self.store.documents(limited, None).await?;
            bytes += documents.iter().map(|document| document.json.len()).sum::<usize>();
        }
        Ok(u64::try_from(bytes - replaced).unwrap_or(u64::MAX) > most)
    }
}

fn is_at(stored: Option<Version>, expected: Version) -> bool {
    stored == Some(expected)
}

fn saved(holds: bool) -> Saved {
    if holds { Saved::Saved } else { Saved::Stale }
}

#[async_trait]
impl Interceptor for DryRun {
    async fn save_member(&self, _: &dyn Members, change: &MemberChange) -> Result<MemberSaved> {
        let basis = self.store.member(&change.member.id).await?;
        let now = self.store.now().await?;
        let is_proven = change.proven.as_ref().is_none_or(|proven| {
            basis.challenge.is_some_and(|live| live.seed == proven.0 && now <= live.expires_at)
        });
        if basis.member.map(|member| member.version) != change.expected || !is_proven {
            return Ok(MemberSaved::Stale);
        }
        if let Some(holder) = self.other_holder(change).await? {
            return Ok(MemberSaved::KeyHeld(holder));
        }
        if self.is_full(change).await? {
            return Ok(MemberSaved::Full);
        }
        if change.held_key().is_none() {
            let mut without_key = self.without_key.lock().unwrap_or_else(PoisonError::into_inner);
            without_key.insert(change.member.id.clone());
        }
        Ok(MemberSaved::Saved)
    }

    async fn convene(&self, _: &dyn Sessions, convocation: &Convocation) -> Result<Arc<Session>> {
        Ok(Arc::new(convocation.draft.convened(SessionId(0), self.store.now().await?)))
    }

    async fn save_session(&self, _: &dyn Sessions, change: &SessionChange) -> Result<Saved> {
        let stored = self.store.session(change.session.id).await?.map(|it| it.version);
        Ok(saved(is_at(stored, change.expected) && self.takes_hold(change).await?))
    }

    async fn aggregate(&self, _: &dyn Sessions, aggregation: &Aggregation) -> Result<Aggregated> {
        let judged = judge_aggregation(&*self.store, aggregation).await?;
        Ok(judged.map(|mut change| {
            if change.opens {
                // The snapshot would reveal what is sealed, and operators have no early look.
                change.session.snapshot = None;
            }
            Arc::new(change.session)
        }))
    }

    async fn mark_takes(&self, _: &dyn Takes, marks: &TakeMarks) -> Result<Option<Timestamp>> {
        let stored = self.store.session(marks.session.id).await?.map(|it| it.version);
        Ok(match is_at(stored, marks.expected) {
            true => Some(self.store.now().await?),
            false => None,
        })
    }

    async fn put_document(
        &self,
        _: &dyn Documents,
        collection: Collection,
        draft: &DocumentDraft,
    ) -> Result<Put> {
        if !self.guard_holds(draft.guard.as_ref()).await? {
            return Ok(Put::Stale);
        }
        let (key, json) = (draft.key.clone(), draft.json.clone());
        let stored = match &key {
            Some(key) => self.store.document(collection, key).await?,
            None => None,
        };
        let replaced = stored.as_ref().map_or(0, |stored| stored.json.len());
        Ok(match stored {
            Some(_) if !draft.replace => Put::Exists,
            None if self.is_one_too_many(collection, draft).await? => Put::Full,
            _ if self.is_too_large(collection, draft, replaced).await? => Put::NoRoom,
            Some(stored) => Put::Replaced(Document { json, ..stored }),
            None => {
                let created_at = self.store.now().await?;
                let key = key.unwrap_or_else(|| "0".to_owned());
                Put::Created(Document { id: 0, key, json, created_at })
            }
        })
    }

    async fn save_message(&self, _: &dyn Outbox, change: &MessageChange) -> Result<Saved> {
        let id = change.message.id;
        let after = id.0.checked_sub(1).map(MessageId);
        let found = self.store.messages(&MessageQuery { state: None, after, limit: 1 }).await?;
        let stored = found.iter().find(|message| message.record.id == id);
        Ok(saved(is_at(stored.map(|message| message.version), change.expected)))
    }

    async fn queue_message(&self, _: &dyn Outbox, _: &QueuedMail) -> Result<Queued> {
        Ok(Queued::Queued(MessageId(0), self.store.now().await?))
    }

    async fn save_webhook(
        &self,
        _: &dyn Webhooks,
        change: &WebhookChange,
    ) -> Result<Option<Vec<Delivery>>> {
        let stored = self.store.webhook(&change.webhook.url).await?.webhook;
        if stored.map(|webhook| webhook.version) != change.expected {
            return Ok(None);
        }
        let now = self.store.now().await?;
        let queued = change.deliveries.iter().map(|draft| draft.queued(DeliveryId(0), now));
        Ok(Some(queued.collect()))
    }

    async fn save_delivery(&self, _: &dyn Webhooks, change: &DeliveryChange) -> Result<Saved> {
        let before = Some(DeliveryId(change.delivery.id.0.saturating_add(1)));
        let query = DeliveryQuery::Newest { state: None, before, limit: 1 };
        let found = self.store.deliveries(&query).await?;
        let stored = found.iter().find(|delivery| delivery.record.id == change.delivery.id);
        Ok(saved(is_at(stored.map(|delivery| delivery.version), change.expected)))
    }

    async fn mark_went_back(&self, _: &dyn Log, _: u64, _: Seq) -> Result<()> {
        Ok(())
    }

    async fn accept_clock(&self, _: &dyn Log, _: &Act) -> Result<()> {
        Ok(())
    }

    async fn accept_store(&self, _: &dyn Log, _: &Act) -> Result<()> {
        Ok(())
    }

    async fn accept_key(&self, _: &dyn Log, _: &Act) -> Result<()> {
        Ok(())
    }
}

struct CommitteeDryRun;

#[async_trait]
impl Interceptor for CommitteeDryRun {
    async fn save_committee_member(
        &self,
        next: &dyn Committee,
        change: &CommitteeMemberChange,
    ) -> Result<Saved> {
        let stored = next.committee_member(&change.member.id).await?;
        Ok(saved(stored.map(|member| member.version) == change.expected))
    }

    async fn save_committee_day(
        &self,
        next: &dyn Committee,
        change: &CommitteeDayChange,
    ) -> Result<Saved> {
        let stored = next.committee_day(change.day.date).await?;
        Ok(saved(stored.map(|day| day.version) == change.expected))
    }
}

/// Reads a session and its takes, and has the rules judge them.
async fn judge_aggregation(
    store: &dyn Store,
    aggregation: &Aggregation,
) -> Result<std::result::Result<SessionChange, Refusal>> {
    let found = store.session_takes(&TakeQuery::all(aggregation.session)).await?;
    let (session, takes) = found.map(|found| (found.session, found.takes)).unzip();
    // Read last, so that no take of the snapshot was filed after it.
    let now = store.now().await?;
    Ok(aggregation.judge(session.as_ref(), &takes.unwrap_or_default(), now))
}
