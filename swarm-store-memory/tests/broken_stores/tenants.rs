//! Methods that forget their tenant: they look into all worlds, or write into them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{
    Challenge, LogRow, MailState, Member, MemberId, MemberState, Message, MessageId, SecretHash,
    Seq, Session, SessionId, Take, TakeId, TakeOnFile,
};
use swarm_core::rules::Filing;
use swarm_core::store::{
    Basis, BasisQuery, ChallengeOffer, Collection, Countable, Document, DocumentDraft, Filed,
    MemberBasis, MemberChange, MemberQuery, MemberSaved, MessageChange, Put, Result, Saved,
    SessionChange, SessionQuery, Slot, Store, TakeQuery, Versioned, async_trait,
};

use crate::broken::{At, Fault};

/// One method of a fault, in place of the right one.
macro_rules! fault {
    ($fault:ident: $method:ident($at:ident $(, $name:ident: $type:ty)*) -> $answer:ty $code:block) => {
        #[derive(Default)]
        pub(crate) struct $fault;

        #[async_trait]
        impl Fault for $fault {
            async fn $method(&self, $at: &At $(, $name: $type)*) -> Result<$answer> $code
        }
    };
}
pub(crate) use fault;

/// What all worlds answer, one after the other.
macro_rules! from_all {
    ($at:ident.$method:ident($($argument:expr),*)) => {{
        let mut found = Vec::new();
        for store in &$at.all {
            found.extend(store.$method($($argument),*).await?);
        }
        found
    }};
}
pub(crate) use from_all;

fault!(MemberOfAnyTenant: member(at, id: &MemberId) -> MemberBasis {
    for store in &at.all {
        let facts = store.member(id).await?;
        if facts.member.is_some() {
            return Ok(facts);
        }
    }
    at.own.member(id).await
});

fault!(ChallengeOfAnyTenant: member(at, id: &MemberId) -> MemberBasis {
    let mut facts = at.own.member(id).await?;
    for store in &at.all {
        facts.challenge = store.member(id).await?.challenge.or(facts.challenge);
    }
    Ok(facts)
});

fault!(ChallengeStandsInAnyTenant: give_challenge(at, offer: &ChallengeOffer) -> Challenge {
    let first = at.all.first().unwrap_or(&at.own);
    let fresh = first.give_challenge(&ChallengeOffer { slot: Slot::Decoy, ..offer.clone() }).await?;
    at.own.give_challenge(&ChallengeOffer { fresh, ..offer.clone() }).await
});

fault!(MembersOfAllTenants: members(at, query: &MemberQuery) -> Vec<Arc<Member>> {
    Ok(from_all!(at.members(query)))
});

fault!(BearerOfAnyTenant: bearer(at, token: &SecretHash) -> Option<Arc<Member>> {
    Ok(from_all!(at.bearer(token)).into_iter().next())
});

fault!(MemberSavedInAllTenants: save_member(at, change: &MemberChange) -> MemberSaved {
    let saved = at.own.save_member(change).await?;
    for store in at.others().filter(|_| saved == MemberSaved::Saved) {
        let there = store.member(&change.member.id).await?.member;
        let expected = there.as_ref().map(|member| member.version);
        if expected.is_some() {
            let _ = store.save_member(&MemberChange { expected, ..change.clone() }).await?;
        }
    }
    Ok(saved)
});

fault!(KeyHeldInAnyTenant: save_member(at, change: &MemberChange) -> MemberSaved {
    for store in at.others() {
        for other in store.members(&MemberQuery::in_states(&MemberState::ALL)).await? {
            let held = MemberChange { member: Member::clone(&other), ..change.clone() };
            let same = change.held_key().is_some() && held.held_key() == change.held_key();
            if same && other.id != change.member.id {
                return Ok(MemberSaved::KeyHeld(other.id.clone()));
            }
        }
    }
    at.own.save_member(change).await
});

/// Tokens that were replaced anywhere are dead everywhere.
#[derive(Default)]
pub(crate) struct TokenDeadInAllTenants(Mutex<HashSet<SecretHash>>);

#[async_trait]
impl Fault for TokenDeadInAllTenants {
    async fn save_member(&self, at: &At, change: &MemberChange) -> Result<MemberSaved> {
        let before = at.own.member(&change.member.id).await?.member;
        let before = before.and_then(|member| member.record.token);
        let replaced = before.filter(|token| change.member.token != Some(*token));
        self.0.lock().unwrap().extend(replaced);
        at.own.save_member(change).await
    }

    async fn bearer(&self, at: &At, token: &SecretHash) -> Result<Option<Arc<Member>>> {
        let bearer = at.own.bearer(token).await?;
        Ok(bearer.filter(|_| !self.0.lock().unwrap().contains(token)))
    }
}

fault!(MessagesOfAllTenants:
    messages(at, state: Option<MailState>, after: Option<MessageId>) -> Vec<Versioned<Message>> {
        Ok(from_all!(at.messages(state, after)))
    }
);

fault!(MessageSavedInAllTenants: save_message(at, change: &MessageChange) -> Saved {
    for store in at.others() {
        let _ = store.save_message(change).await?;
    }
    at.own.save_message(change).await
});

fault!(SessionOfAnyTenant: session(at, id: SessionId) -> Option<Versioned<Session>> {
    Ok(from_all!(at.session(id)).into_iter().next())
});

fault!(SessionsOfAllTenants: sessions(at, query: &SessionQuery) -> Vec<Arc<Session>> {
    Ok(from_all!(at.sessions(query)))
});

fault!(PublishedOfAllTenants: published(at, limit: usize) -> Vec<Arc<Session>> {
    Ok(from_all!(at.published(limit)))
});

fault!(SessionSavedInAllTenants: save_session(at, change: &SessionChange) -> Saved {
    for store in at.others() {
        let _ = store.save_session(change).await?;
    }
    at.own.save_session(change).await
});

fault!(TakesCountedInAllTenants: save_session(at, change: &SessionChange) -> Saved {
    let all = from_all!(at.takes(change.session.id)).len();
    if change.takes.is_some_and(|takes| takes != all) {
        return Ok(Saved::Stale);
    }
    at.own.save_session(&SessionChange { takes: None, ..change.clone() }).await
});

fault!(BearerFactOfAnyTenant: basis(at, query: &BasisQuery<'_>) -> Basis {
    let mut facts = at.own.basis(query).await?;
    for store in &at.all {
        facts.member = store.basis(query).await?.member.or(facts.member);
    }
    Ok(facts)
});

fault!(SessionFactOfAnyTenant: basis(at, query: &BasisQuery<'_>) -> Basis {
    let mut facts = at.own.basis(query).await?;
    for store in &at.all {
        let session = store.basis(query).await?.session;
        let newest = [facts.session, session].into_iter().flatten();
        facts.session = newest.max_by_key(|session| session.record.id);
    }
    Ok(facts)
});

fault!(RevisionFactOfAnyTenant: basis(at, query: &BasisQuery<'_>) -> Basis {
    let mut facts = at.own.basis(query).await?;
    for store in &at.all {
        facts.latest = facts.latest.max(store.basis(query).await?.latest);
    }
    Ok(facts)
});

fault!(NonceFactOfAnyTenant: basis(at, query: &BasisQuery<'_>) -> Basis {
    let mut facts = at.own.basis(query).await?;
    for store in &at.all {
        facts.spent = facts.spent.or(store.basis(query).await?.spent);
    }
    Ok(facts)
});

fault!(NonceSpentInAnyTenant: file(at, filing: &Filing) -> Filed {
    for store in at.others() {
        let spent = |take: &Arc<Take>| take.draft().nonce == *filing.nonce();
        if takes(&**store).await?.iter().any(spent) {
            return Ok(Filed::NonceUsed);
        }
    }
    at.own.file(filing).await
});

fault!(RevisionTakenInAnyTenant: file(at, filing: &Filing) -> Filed {
    for store in at.others() {
        let taken = |take: &Arc<Take>| {
            take.draft().member_id == *filing.member().0 && take.revision == filing.revision()
        };
        if takes(&**store).await?.iter().any(taken) {
            return Ok(Filed::RevisionTaken);
        }
    }
    at.own.file(filing).await
});

fault!(NewestSessionOfAnyTenant: file(at, filing: &Filing) -> Filed {
    let own = at.own.session(filing.session().0).await?.unwrap().record;
    let on = Some((own.date, own.subject_id.clone()));
    let newest = from_all!(at.sessions(&SessionQuery { on: on.clone(), limit: 1, ..SessionQuery::default() }));
    if newest.iter().any(|session| session.id > own.id) {
        return Ok(Filed::Stale);
    }
    at.own.file(filing).await
});

fault!(TakeOfAnyTenant: take(at, id: TakeId) -> Option<TakeOnFile> {
    Ok(from_all!(at.take(id)).into_iter().next())
});

fault!(SupersededInAnyTenant: take(at, id: TakeId) -> Option<TakeOnFile> {
    let superseded_by = from_all!(at.take(id)).into_iter().find_map(|take| take.superseded_by);
    let own = at.own.take(id).await?;
    Ok(own.map(|own| TakeOnFile { superseded_by, ..own }))
});

fault!(TakesOfAllTenants: takes(at, session: SessionId) -> Vec<Arc<Take>> {
    Ok(from_all!(at.takes(session)))
});

fault!(LatestTakesOfAllTenants: latest_takes(at, query: &TakeQuery) -> Vec<Arc<Take>> {
    Ok(from_all!(at.latest_takes(query)))
});

fault!(DocumentOfAnyTenant: document(at, collection: Collection, key: &str) -> Option<Document> {
    Ok(from_all!(at.document(collection, key)).into_iter().next())
});

fault!(DocumentsOfAllTenants:
    documents(at, collection: Collection, group: Option<&str>) -> Vec<Document> {
        Ok(from_all!(at.documents(collection, group)))
    }
);

fault!(DocumentPutIntoAllTenants:
    put_document(at, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in at.others().filter(|_| draft.replace) {
            if store.document(collection, &key).await?.is_some() {
                let _ = store.put_document(collection, draft).await?;
            }
        }
        at.own.put_document(collection, draft).await
    }
);

fault!(DocumentExistsInAnyTenant:
    put_document(at, collection: Collection, draft: &DocumentDraft) -> Put {
        let key = draft.key.clone().unwrap_or_default();
        for store in at.others() {
            if !draft.replace && store.document(collection, &key).await?.is_some() {
                return Ok(Put::Exists);
            }
        }
        at.own.put_document(collection, draft).await
    }
);

fault!(LogOfAllTenants: log(at, after: Seq, limit: usize) -> Vec<LogRow> {
    Ok(from_all!(at.log(after, limit)))
});

fault!(LogSizeOfAnyTenant: log_size(at) -> Seq {
    let mut size = at.own.log_size().await?;
    for store in at.others() {
        size = size.max(store.log_size().await?);
    }
    Ok(size)
});

fault!(CountOfAllTenants: count(at, what: Countable) -> u64 {
    let mut count = 0;
    for store in &at.all {
        count += store.count(what).await?;
    }
    Ok(count)
});

fault!(ActsOfAllTenants: acts_on(at, session: SessionId) -> Vec<LogRow> {
    Ok(from_all!(at.acts_on(session)))
});

/// All takes of a world.
async fn takes(store: &dyn Store) -> Result<Vec<Arc<Take>>> {
    let all = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
    let mut takes = Vec::new();
    for session in store.sessions(&all).await? {
        takes.extend(store.takes(session.id).await?);
    }
    Ok(takes)
}
