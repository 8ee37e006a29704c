//! Faults of isolation: methods that read or write the stores of other tenants.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Challenge, LogRow, Member, MemberId, MemberState, Message, SecretHash, Seq, Session, SessionId,
    SessionSummary, StoredTake, Take, TakeId, TakeOnFile, Timestamp,
};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Aggregated, Aggregation, Basis, BasisQuery, ChallengeOffer, ChallengeSlot, Collection,
    Countable, Document, DocumentDraft, Filed, LogPosition, MemberBasis, MemberChange, MemberQuery,
    MemberRemoval, MemberSaved, MemberTake, MemberTakeQuery, MessageChange, MessageQuery, Put,
    Result, Saved, SessionAuthors, SessionChange, SessionQuery, SessionTakes, Store, SummaryQuery,
    TakeContext, TakeMarks, TakeQuery, Versioned, async_trait,
};

use swarm_testing::takes_of;

use crate::broken_stores::broken::{Fault, TenantStores};

/// One method of a fault, in place of the right one.
macro_rules! fault {
    ($fault:ident: $method:ident($stores:ident $(, $name:ident: $type:ty)*) -> $answer:ty $code:block) => {
        #[derive(Default)]
        pub(crate) struct $fault;

        #[async_trait]
        impl Fault for $fault {
            async fn $method(&self, $stores: &TenantStores $(, $name: $type)*) -> Result<$answer> $code
        }
    };
}
pub(crate) use fault;

/// The answers of all stores, in turn.
macro_rules! from_all {
    ($stores:ident.$method:ident($($argument:expr),*)) => {{
        let mut found = Vec::new();
        for store in &$stores.all {
            found.extend(store.$method($($argument),*).await?);
        }
        found
    }};
}
pub(crate) use from_all;

fault!(MemberOfAnyTenant: member(stores, id: &MemberId) -> MemberBasis {
    for store in &stores.all {
        let facts = store.member(id).await?;
        if facts.member.is_some() {
            return Ok(facts);
        }
    }
    stores.own.member(id).await
});

fault!(ChallengeOfAnyTenant: member(stores, id: &MemberId) -> MemberBasis {
    let mut facts = stores.own.member(id).await?;
    for store in &stores.all {
        facts.challenge = store.member(id).await?.challenge.or(facts.challenge);
    }
    Ok(facts)
});

fault!(ChallengeReusedInAnyTenant: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    let first = stores.all.first().unwrap_or(&stores.own);
    let fresh = first.give_challenge(&ChallengeOffer { slot: ChallengeSlot::Decoy, ..offer.clone() }).await?;
    stores.own.give_challenge(&ChallengeOffer { fresh, ..offer.clone() }).await
});

fault!(MembersOfAllTenants: members(stores, query: &MemberQuery) -> Vec<Arc<Member>> {
    Ok(from_all!(stores.members(query)))
});

fault!(BearerOfAnyTenant: bearer(stores, token: &SecretHash) -> Option<Arc<Member>> {
    Ok(from_all!(stores.bearer(token)).into_iter().next())
});

fault!(MemberSavedInAllTenants: save_member(stores, change: &MemberChange) -> MemberSaved {
    let saved = stores.own.save_member(change).await?;
    for store in stores.others().filter(|_| saved == MemberSaved::Saved) {
        let there = store.member(&change.member.id).await?.member;
        let expected = there.as_ref().map(|member| member.version);
        if expected.is_some() {
            let _ = store.save_member(&MemberChange { expected, ..change.clone() }).await?;
        }
    }
    Ok(saved)
});

fault!(MemberRemovedInAllTenants: remove_member(stores, removal: &MemberRemoval) -> Saved {
    for store in stores.others() {
        let _ = store.remove_member(removal).await?;
    }
    stores.own.remove_member(removal).await
});

fault!(KeyHeldInAnyTenant: save_member(stores, change: &MemberChange) -> MemberSaved {
    for store in stores.others() {
        for other in store.members(&MemberQuery::in_states(&MemberState::ALL)).await? {
            let held = MemberChange { member: Member::clone(&other), ..change.clone() };
            let same = change.held_key().is_some() && held.held_key() == change.held_key();
            if same && other.id != change.member.id {
                return Ok(MemberSaved::KeyHeld(other.id.clone()));
            }
        }
    }
    stores.own.save_member(change).await
});

/// Tokens replaced in one tenant are revoked in all.
#[derive(Default)]
pub(crate) struct TokenReplacedInAllTenants(Mutex<HashSet<SecretHash>>);

#[async_trait]
impl Fault for TokenReplacedInAllTenants {
    async fn save_member(
        &self,
        stores: &TenantStores,
        change: &MemberChange,
    ) -> Result<MemberSaved> {
        let before = stores.own.member(&change.member.id).await?.member;
        let before = before.and_then(|member| member.record.token);
        let replaced = before.filter(|token| change.member.token != Some(*token));
        self.0.lock().unwrap().extend(replaced);
        stores.own.save_member(change).await
    }

    async fn bearer(
        &self,
        stores: &TenantStores,
        token: &SecretHash,
    ) -> Result<Option<Arc<Member>>> {
        let bearer = stores.own.bearer(token).await?;
        Ok(bearer.filter(|_| !self.0.lock().unwrap().contains(token)))
    }
}

fault!(MessagesOfAllTenants:
    messages(stores, query: &MessageQuery) -> Vec<Versioned<Message>> {
        Ok(from_all!(stores.messages(query)))
    }
);

fault!(MessageSavedInAllTenants: save_message(stores, change: &MessageChange) -> Saved {
    for store in stores.others() {
        let _ = store.save_message(change).await?;
    }
    stores.own.save_message(change).await
});

fault!(SessionOfAnyTenant: session(stores, id: SessionId) -> Option<Versioned<Session>> {
    Ok(from_all!(stores.session(id)).into_iter().next())
});

fault!(SessionsOfAllTenants: sessions(stores, query: &SessionQuery) -> Vec<Arc<Session>> {
    Ok(from_all!(stores.sessions(query)))
});

fault!(SummariesOfAllTenants: session_summaries(stores, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    Ok(from_all!(stores.session_summaries(query)))
});

fault!(PublishedOfAllTenants: published(stores, limit: usize) -> Vec<Arc<SessionSummary>> {
    Ok(from_all!(stores.published(limit)))
});

fault!(SessionSavedInAllTenants: save_session(stores, change: &SessionChange) -> Saved {
    for store in stores.others() {
        let _ = store.save_session(change).await?;
    }
    stores.own.save_session(change).await
});

fault!(TakesCountedInAllTenants: save_session(stores, change: &SessionChange) -> Saved {
    let all = from_all!(stores.session_takes(&TakeQuery::all(change.session.id)));
    let all: usize = all.iter().map(|found| found.takes.len()).sum();
    if change.takes.is_some_and(|takes| takes != all) {
        return Ok(Saved::Stale);
    }
    stores.own.save_session(&SessionChange { takes: None, ..change.clone() }).await
});

fault!(BasisMemberOfAnyTenant: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let mut facts = stores.own.basis(query).await?;
    for store in &stores.all {
        facts.member = store.basis(query).await?.member.or(facts.member);
    }
    Ok(facts)
});

fault!(BasisSessionOfAnyTenant: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let mut facts = stores.own.basis(query).await?;
    for store in &stores.all {
        let session = store.basis(query).await?.session;
        let newest = [facts.session, session].into_iter().flatten();
        facts.session = newest.max_by_key(|session| session.record.id);
    }
    Ok(facts)
});

fault!(BasisRevisionOfAnyTenant: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let mut facts = stores.own.basis(query).await?;
    for store in &stores.all {
        facts.latest = facts.latest.max(store.basis(query).await?.latest);
    }
    Ok(facts)
});

fault!(BasisNonceOfAnyTenant: basis(stores, query: &BasisQuery<'_>) -> Basis {
    let mut facts = stores.own.basis(query).await?;
    for store in &stores.all {
        facts.spent = facts.spent.or(store.basis(query).await?.spent);
    }
    Ok(facts)
});

fault!(NonceSpentInAnyTenant: file(stores, filing: &Filing) -> Filed {
    for store in stores.others() {
        let spent = |take: &Arc<Take>| take.draft().nonce == *filing.nonce();
        if takes(&**store).await?.iter().any(spent) {
            return Ok(Filed::NonceUsed);
        }
    }
    stores.own.file(filing).await
});

fault!(RevisionTakenInAnyTenant: file(stores, filing: &Filing) -> Filed {
    for store in stores.others() {
        let taken = |take: &Arc<Take>| {
            take.draft().member_id == *filing.member().0 && take.revision == filing.revision()
        };
        if takes(&**store).await?.iter().any(taken) {
            return Ok(Filed::RevisionTaken);
        }
    }
    stores.own.file(filing).await
});

fault!(NewestSessionOfAnyTenant: file(stores, filing: &Filing) -> Filed {
    let own = stores.own.session(filing.session().0).await?.unwrap().record;
    let on = Some((own.date, own.subject_id.clone()));
    let newest = from_all!(stores.sessions(&SessionQuery { on: on.clone(), limit: 1, ..SessionQuery::default() }));
    if newest.iter().any(|session| session.id > own.id) {
        return Ok(Filed::Stale);
    }
    stores.own.file(filing).await
});

fault!(TakeOfAnyTenant: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    Ok(from_all!(stores.take(id)).into_iter().next())
});

fault!(SupersededInAnyTenant: take(stores, id: TakeId) -> Option<TakeOnFile<StoredTake>> {
    let superseded_by = from_all!(stores.take(id)).into_iter().find_map(|take| take.superseded_by);
    let own = stores.own.take(id).await?;
    Ok(own.map(|own| TakeOnFile { superseded_by, ..own }))
});

fault!(ContextOfAnyTenant: take_context(stores, id: TakeId) -> Option<TakeContext> {
    let found = from_all!(stores.take_context(id));
    Ok(found.into_iter().max_by_key(|context| context.revisions.len()))
});

fault!(MemberTakesOfAllTenants: member_takes(stores, query: &MemberTakeQuery) -> Vec<MemberTake> {
    Ok(from_all!(stores.member_takes(query)))
});

fault!(AuthorsOfAllTenants: session_authors(stores, id: SessionId) -> Option<SessionAuthors> {
    let own = stores.own.session_authors(id).await?;
    let found = from_all!(stores.session_authors(id)).into_iter();
    let authors = found.flat_map(|found| found.authors).collect();
    Ok(own.map(|own| SessionAuthors { authors, ..own }))
});

fault!(TakesOfAllTenants: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    let own = stores.own.session_takes(query).await?;
    let takes = from_all!(stores.session_takes(query)).into_iter().flat_map(|found| found.takes);
    Ok(own.map(|own| SessionTakes { takes: takes.collect(), ..own }))
});

fault!(SessionOfTakesOfAnyTenant: session_takes(stores, query: &TakeQuery) -> Option<SessionTakes> {
    let own = stores.own.session_takes(query).await?;
    let any = from_all!(stores.session_takes(query)).into_iter().next();
    Ok(own.zip(any).map(|(own, any)| SessionTakes { session: any.session, ..own }))
});

fault!(AggregatedInAllTenants: aggregate(stores, aggregation: &Aggregation) -> Aggregated {
    for store in stores.others() {
        let _ = store.aggregate(aggregation).await?;
    }
    stores.own.aggregate(aggregation).await
});

fault!(DocumentSizesOfAllTenants: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let (mut quota, mut size) = (draft.quota, 0);
    for store in stores.others() {
        let documents = store.documents(collection, None).await?;
        size += documents.iter().map(|document| document.json.len() as u64).sum::<u64>();
    }
    if let Some(bytes) = quota.as_mut().and_then(|quota| quota.bytes.as_mut()) {
        *bytes = bytes.saturating_sub(2 * size);
    }
    stores.own.put_document(collection, &DocumentDraft { quota, ..draft.clone() }).await
});

fault!(DocumentOfAnyTenant: document(stores, collection: Collection, key: &str) -> Option<Document> {
    Ok(from_all!(stores.document(collection, key)).into_iter().next())
});

fault!(DocumentsOfAllTenants:
    documents(stores, collection: Collection, group: Option<&str>) -> Vec<Document> {
        Ok(from_all!(stores.documents(collection, group)))
    }
);

fault!(DocumentPutIntoAllTenants:
    put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in stores.others().filter(|_| draft.replace) {
            if store.document(collection, &key).await?.is_some() {
                let _ = store.put_document(collection, draft).await?;
            }
        }
        stores.own.put_document(collection, draft).await
    }
);

fault!(DocumentExistsInAnyTenant:
    put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in stores.others() {
            if !draft.replace && store.document(collection, &key).await?.is_some() {
                return Ok(Put::Exists);
            }
        }
        stores.own.put_document(collection, draft).await
    }
);

fault!(LogOfAllTenants: log(stores, after: Seq, limit: usize) -> Vec<LogRow> {
    Ok(from_all!(stores.log(after, limit)))
});

fault!(LogPositionOfAnyTenant: log_position(stores) -> LogPosition {
    let mut position = stores.own.log_position().await?;
    for store in stores.others() {
        let other = store.log_position().await?;
        if other.size > position.size {
            position = other;
        }
    }
    Ok(position)
});

fault!(CountOfAllTenants: count(stores, what: Countable) -> u64 {
    let mut count = 0;
    for store in &stores.all {
        count += store.count(what).await?;
    }
    Ok(count)
});

fault!(ActsOfAllTenants: acts_on(stores, session: SessionId) -> Vec<LogRow> {
    Ok(from_all!(stores.acts_on(session)))
});

/// All takes of a tenant.
async fn takes(store: &dyn Store) -> Result<Vec<Arc<Take>>> {
    let all = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    let mut takes = Vec::new();
    for session in store.sessions(&all).await? {
        takes.extend(takes_of(store, session.id).await?);
    }
    Ok(takes)
}

fault!(MarkedInAllTenants: mark_takes(stores, marks: &TakeMarks) -> Option<Timestamp> {
    for store in stores.others() {
        let _ = store.mark_takes(marks).await?;
    }
    stores.own.mark_takes(marks).await
});
