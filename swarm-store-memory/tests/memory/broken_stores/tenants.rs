//! Faults of isolation: methods that read or write the worlds of other tenants.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Challenge, LogRow, Member, MemberId, MemberState, Message, SecretHash, Seq, Session, SessionId,
    SessionSummary, Take, TakeId, TakeOnFile,
};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Aggregated, Aggregation, Basis, BasisQuery, ChallengeOffer, ChallengeSlot, Collection,
    Countable, Document, DocumentDraft, Filed, LogPosition, MemberBasis, MemberChange, MemberQuery,
    MemberRemoval, MemberSaved, MemberTake, MemberTakeQuery, MessageChange, MessageQuery, Put,
    Result, Saved, SessionChange, SessionQuery, SessionTakes, Store, SummaryQuery, TakeContext,
    TakeQuery, Versioned, async_trait,
};

use swarm_testing::takes_of;

use crate::broken_stores::broken::{Fault, Worlds};

/// One method of a fault, in place of the right one.
macro_rules! fault {
    ($fault:ident: $method:ident($worlds:ident $(, $name:ident: $type:ty)*) -> $answer:ty $code:block) => {
        #[derive(Default)]
        pub(crate) struct $fault;

        #[async_trait]
        impl Fault for $fault {
            async fn $method(&self, $worlds: &Worlds $(, $name: $type)*) -> Result<$answer> $code
        }
    };
}
pub(crate) use fault;

/// The answers of all worlds, in turn.
macro_rules! from_all {
    ($worlds:ident.$method:ident($($argument:expr),*)) => {{
        let mut found = Vec::new();
        for store in &$worlds.all {
            found.extend(store.$method($($argument),*).await?);
        }
        found
    }};
}
pub(crate) use from_all;

fault!(MemberOfAnyTenant: member(worlds, id: &MemberId) -> MemberBasis {
    for store in &worlds.all {
        let facts = store.member(id).await?;
        if facts.member.is_some() {
            return Ok(facts);
        }
    }
    worlds.own.member(id).await
});

fault!(ChallengeOfAnyTenant: member(worlds, id: &MemberId) -> MemberBasis {
    let mut facts = worlds.own.member(id).await?;
    for store in &worlds.all {
        facts.challenge = store.member(id).await?.challenge.or(facts.challenge);
    }
    Ok(facts)
});

fault!(ChallengeReusedInAnyTenant: give_challenge(worlds, offer: &ChallengeOffer) -> Challenge {
    let first = worlds.all.first().unwrap_or(&worlds.own);
    let fresh = first.give_challenge(&ChallengeOffer { slot: ChallengeSlot::Decoy, ..offer.clone() }).await?;
    worlds.own.give_challenge(&ChallengeOffer { fresh, ..offer.clone() }).await
});

fault!(MembersOfAllTenants: members(worlds, query: &MemberQuery) -> Vec<Arc<Member>> {
    Ok(from_all!(worlds.members(query)))
});

fault!(BearerOfAnyTenant: bearer(worlds, token: &SecretHash) -> Option<Arc<Member>> {
    Ok(from_all!(worlds.bearer(token)).into_iter().next())
});

fault!(MemberSavedInAllTenants: save_member(worlds, change: &MemberChange) -> MemberSaved {
    let saved = worlds.own.save_member(change).await?;
    for store in worlds.others().filter(|_| saved == MemberSaved::Saved) {
        let there = store.member(&change.member.id).await?.member;
        let expected = there.as_ref().map(|member| member.version);
        if expected.is_some() {
            let _ = store.save_member(&MemberChange { expected, ..change.clone() }).await?;
        }
    }
    Ok(saved)
});

fault!(MemberRemovedInAllTenants: remove_member(worlds, removal: &MemberRemoval) -> Saved {
    for store in worlds.others() {
        let _ = store.remove_member(removal).await?;
    }
    worlds.own.remove_member(removal).await
});

fault!(KeyHeldInAnyTenant: save_member(worlds, change: &MemberChange) -> MemberSaved {
    for store in worlds.others() {
        for other in store.members(&MemberQuery::in_states(&MemberState::ALL)).await? {
            let held = MemberChange { member: Member::clone(&other), ..change.clone() };
            let same = change.held_key().is_some() && held.held_key() == change.held_key();
            if same && other.id != change.member.id {
                return Ok(MemberSaved::KeyHeld(other.id.clone()));
            }
        }
    }
    worlds.own.save_member(change).await
});

/// Tokens replaced in one tenant are revoked in all.
#[derive(Default)]
pub(crate) struct TokenDeadInAllTenants(Mutex<HashSet<SecretHash>>);

#[async_trait]
impl Fault for TokenDeadInAllTenants {
    async fn save_member(&self, worlds: &Worlds, change: &MemberChange) -> Result<MemberSaved> {
        let before = worlds.own.member(&change.member.id).await?.member;
        let before = before.and_then(|member| member.record.token);
        let replaced = before.filter(|token| change.member.token != Some(*token));
        self.0.lock().unwrap().extend(replaced);
        worlds.own.save_member(change).await
    }

    async fn bearer(&self, worlds: &Worlds, token: &SecretHash) -> Result<Option<Arc<Member>>> {
        let bearer = worlds.own.bearer(token).await?;
        Ok(bearer.filter(|_| !self.0.lock().unwrap().contains(token)))
    }
}

fault!(MessagesOfAllTenants:
    messages(worlds, query: &MessageQuery) -> Vec<Versioned<Message>> {
        Ok(from_all!(worlds.messages(query)))
    }
);

fault!(MessageSavedInAllTenants: save_message(worlds, change: &MessageChange) -> Saved {
    for store in worlds.others() {
        let _ = store.save_message(change).await?;
    }
    worlds.own.save_message(change).await
});

fault!(SessionOfAnyTenant: session(worlds, id: SessionId) -> Option<Versioned<Session>> {
    Ok(from_all!(worlds.session(id)).into_iter().next())
});

fault!(SessionsOfAllTenants: sessions(worlds, query: &SessionQuery) -> Vec<Arc<Session>> {
    Ok(from_all!(worlds.sessions(query)))
});

fault!(SummariesOfAllTenants: session_summaries(worlds, query: &SummaryQuery) -> Vec<Arc<SessionSummary>> {
    Ok(from_all!(worlds.session_summaries(query)))
});

fault!(PublishedOfAllTenants: published(worlds, limit: usize) -> Vec<Arc<SessionSummary>> {
    Ok(from_all!(worlds.published(limit)))
});

fault!(SessionSavedInAllTenants: save_session(worlds, change: &SessionChange) -> Saved {
    for store in worlds.others() {
        let _ = store.save_session(change).await?;
    }
    worlds.own.save_session(change).await
});

fault!(TakesCountedInAllTenants: save_session(worlds, change: &SessionChange) -> Saved {
    let all = from_all!(worlds.session_takes(&TakeQuery::all(change.session.id)));
    let all: usize = all.iter().map(|found| found.takes.len()).sum();
    if change.takes.is_some_and(|takes| takes != all) {
        return Ok(Saved::Stale);
    }
    worlds.own.save_session(&SessionChange { takes: None, ..change.clone() }).await
});

fault!(BearerFactOfAnyTenant: basis(worlds, query: &BasisQuery<'_>) -> Basis {
    let mut facts = worlds.own.basis(query).await?;
    for store in &worlds.all {
        facts.member = store.basis(query).await?.member.or(facts.member);
    }
    Ok(facts)
});

fault!(SessionFactOfAnyTenant: basis(worlds, query: &BasisQuery<'_>) -> Basis {
    let mut facts = worlds.own.basis(query).await?;
    for store in &worlds.all {
        let session = store.basis(query).await?.session;
        let newest = [facts.session, session].into_iter().flatten();
        facts.session = newest.max_by_key(|session| session.record.id);
    }
    Ok(facts)
});

fault!(RevisionFactOfAnyTenant: basis(worlds, query: &BasisQuery<'_>) -> Basis {
    let mut facts = worlds.own.basis(query).await?;
    for store in &worlds.all {
        facts.latest = facts.latest.max(store.basis(query).await?.latest);
    }
    Ok(facts)
});

fault!(NonceFactOfAnyTenant: basis(worlds, query: &BasisQuery<'_>) -> Basis {
    let mut facts = worlds.own.basis(query).await?;
    for store in &worlds.all {
        facts.spent = facts.spent.or(store.basis(query).await?.spent);
    }
    Ok(facts)
});

fault!(NonceSpentInAnyTenant: file(worlds, filing: &Filing) -> Filed {
    for store in worlds.others() {
        let spent = |take: &Arc<Take>| take.draft().nonce == *filing.nonce();
        if takes(&**store).await?.iter().any(spent) {
            return Ok(Filed::NonceUsed);
        }
    }
    worlds.own.file(filing).await
});

fault!(RevisionTakenInAnyTenant: file(worlds, filing: &Filing) -> Filed {
    for store in worlds.others() {
        let taken = |take: &Arc<Take>| {
            take.draft().member_id == *filing.member().0 && take.revision == filing.revision()
        };
        if takes(&**store).await?.iter().any(taken) {
            return Ok(Filed::RevisionTaken);
        }
    }
    worlds.own.file(filing).await
});

fault!(NewestSessionOfAnyTenant: file(worlds, filing: &Filing) -> Filed {
    let own = worlds.own.session(filing.session().0).await?.unwrap().record;
    let on = Some((own.date, own.subject_id.clone()));
    let newest = from_all!(worlds.sessions(&SessionQuery { on: on.clone(), limit: 1, ..SessionQuery::default() }));
    if newest.iter().any(|session| session.id > own.id) {
        return Ok(Filed::Stale);
    }
    worlds.own.file(filing).await
});

fault!(TakeOfAnyTenant: take(worlds, id: TakeId) -> Option<TakeOnFile> {
    Ok(from_all!(worlds.take(id)).into_iter().next())
});

fault!(SupersededInAnyTenant: take(worlds, id: TakeId) -> Option<TakeOnFile> {
    let superseded_by = from_all!(worlds.take(id)).into_iter().find_map(|take| take.superseded_by);
    let own = worlds.own.take(id).await?;
    Ok(own.map(|own| TakeOnFile { superseded_by, ..own }))
});

fault!(ContextOfAnyTenant: take_context(worlds, id: TakeId) -> Option<TakeContext> {
    let found = from_all!(worlds.take_context(id));
    Ok(found.into_iter().max_by_key(|context| context.revisions.len()))
});

fault!(MemberTakesOfAllTenants: member_takes(worlds, query: &MemberTakeQuery) -> Vec<MemberTake> {
    Ok(from_all!(worlds.member_takes(query)))
});

fault!(TakesOfAllTenants: session_takes(worlds, query: &TakeQuery) -> Option<SessionTakes> {
    let own = worlds.own.session_takes(query).await?;
    let takes = from_all!(worlds.session_takes(query)).into_iter().flat_map(|found| found.takes);
    Ok(own.map(|own| SessionTakes { takes: takes.collect(), ..own }))
});

fault!(SessionOfTakesOfAnyTenant: session_takes(worlds, query: &TakeQuery) -> Option<SessionTakes> {
    let own = worlds.own.session_takes(query).await?;
    let any = from_all!(worlds.session_takes(query)).into_iter().next();
    Ok(own.zip(any).map(|(own, any)| SessionTakes { session: any.session, ..own }))
});

fault!(AggregatedInAllTenants: aggregate(worlds, aggregation: &Aggregation) -> Aggregated {
    for store in worlds.others() {
        let _ = store.aggregate(aggregation).await?;
    }
    worlds.own.aggregate(aggregation).await
});

fault!(DocumentSizesOfAllTenants: put_document(worlds, collection: Collection, draft: &DocumentDraft) -> Put {
    let (mut quota, mut size) = (draft.quota, 0);
    for store in worlds.others() {
        let documents = store.documents(collection, None).await?;
        size += documents.iter().map(|document| document.json.len() as u64).sum::<u64>();
    }
    if let Some(bytes) = quota.as_mut().and_then(|quota| quota.bytes.as_mut()) {
        *bytes = bytes.saturating_sub(2 * size);
    }
    worlds.own.put_document(collection, &DocumentDraft { quota, ..draft.clone() }).await
});

fault!(DocumentOfAnyTenant: document(worlds, collection: Collection, key: &str) -> Option<Document> {
    Ok(from_all!(worlds.document(collection, key)).into_iter().next())
});

fault!(DocumentsOfAllTenants:
    documents(worlds, collection: Collection, group: Option<&str>) -> Vec<Document> {
        Ok(from_all!(worlds.documents(collection, group)))
    }
);

fault!(DocumentPutIntoAllTenants:
    put_document(worlds, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in worlds.others().filter(|_| draft.replace) {
            if store.document(collection, &key).await?.is_some() {
                let _ = store.put_document(collection, draft).await?;
            }
        }
        worlds.own.put_document(collection, draft).await
    }
);

fault!(DocumentExistsInAnyTenant:
    put_document(worlds, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in worlds.others() {
            if !draft.replace && store.document(collection, &key).await?.is_some() {
                return Ok(Put::Exists);
            }
        }
        worlds.own.put_document(collection, draft).await
    }
);

fault!(LogOfAllTenants: log(worlds, after: Seq, limit: usize) -> Vec<LogRow> {
    Ok(from_all!(worlds.log(after, limit)))
});

fault!(LogPositionOfAnyTenant: log_position(worlds) -> LogPosition {
    let mut position = worlds.own.log_position().await?;
    for store in worlds.others() {
        let other = store.log_position().await?;
        if other.size > position.size {
            position = other;
        }
    }
    Ok(position)
});

fault!(CountOfAllTenants: count(worlds, what: Countable) -> u64 {
    let mut count = 0;
    for store in &worlds.all {
        count += store.count(what).await?;
    }
    Ok(count)
});

fault!(ActsOfAllTenants: acts_on(worlds, session: SessionId) -> Vec<LogRow> {
    Ok(from_all!(worlds.acts_on(session)))
});

/// All takes of a world.
async fn takes(store: &dyn Store) -> Result<Vec<Arc<Take>>> {
    let all = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    let mut takes = Vec::new();
    for session in store.sessions(&all).await? {
        takes.extend(takes_of(store, session.id).await?);
    }
    Ok(takes)
}
