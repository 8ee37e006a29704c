//! Faults of saving members, sessions and messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{Challenge, Member, MemberId, Message, SecretHash, SessionId, Timestamp};
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, ChallengeSlot, Collection, DocumentDraft, DocumentGuard,
    MemberChange, MemberQuery, MemberSaved, MessageChange, MessageQuery, Put, Result, Saved,
    SessionChange, Versioned, async_trait,
};

use swarm_testing::takes_of;

use crate::broken_stores::broken::{Fault, SHOWN, TenantStores, time};
use crate::broken_stores::tenants::fault;

fault!(MemberAtAnyVersion: save_member(stores, change: &MemberChange) -> MemberSaved {
    let expected = stores.own.member(&change.member.id).await?.member.map(|member| member.version);
    stores.own.save_member(&MemberChange { expected, ..change.clone() }).await
});

fault!(SessionAtAnyVersion: save_session(stores, change: &SessionChange) -> Saved {
    let there = stores.own.session(change.session.id).await?;
    let expected = there.map_or(change.expected, |session| session.version);
    stores.own.save_session(&SessionChange { expected, ..change.clone() }).await
});

fault!(MessagesBeyondThePage: messages(stores, query: &MessageQuery) -> Vec<Versioned<Message>> {
    stores.own.messages(&MessageQuery { limit: usize::MAX, ..*query }).await
});

fault!(MessageAtAnyVersion: save_message(stores, change: &MessageChange) -> Saved {
    let all = stores.own.messages(&MessageQuery::ALL).await?;
    let there = all.iter().find(|message| message.record.id == change.message.id);
    let expected = there.map_or(change.expected, |message| message.version);
    stores.own.save_message(&MessageChange { expected, ..change.clone() }).await
});

fault!(MembersBeforeThePage: members(stores, query: &MemberQuery) -> Vec<Arc<Member>> {
    stores.own.members(&MemberQuery { after: None, ..query.clone() }).await
});

fault!(KeyIndexNotKept: save_member(stores, change: &MemberChange) -> MemberSaved {
    match stores.own.save_member(change).await? {
        MemberSaved::KeyHeld(_) => Ok(MemberSaved::Saved),
        other => Ok(other),
    }
});

/// Old tokens keep resolving.
#[derive(Default)]
pub(crate) struct OldTokensLive(Mutex<HashMap<SecretHash, MemberId>>);

#[async_trait]
impl Fault for OldTokensLive {
    async fn save_member(
        &self,
        stores: &TenantStores,
        change: &MemberChange,
    ) -> Result<MemberSaved> {
        if let Some(token) = change.member.token {
            self.0.lock().unwrap().insert(token, change.member.id.clone());
        }
        stores.own.save_member(change).await
    }

    async fn bearer(
        &self,
        stores: &TenantStores,
        token: &SecretHash,
    ) -> Result<Option<Arc<Member>>> {
        let Some(id) = self.0.lock().unwrap().get(token).cloned() else { return Ok(None) };
        Ok(stores.own.member(&id).await?.member.map(|member| member.record))
    }
}

fault!(QuotaOfMembersUnchecked: save_member(stores, change: &MemberChange) -> MemberSaved {
    stores.own.save_member(&MemberChange { quota: None, ..change.clone() }).await
});

fault!(QuotaOfDocumentsUnchecked: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    stores.own.put_document(collection, &DocumentDraft { quota: None, ..draft.clone() }).await
});

fault!(NothingIsProven: save_member(stores, change: &MemberChange) -> MemberSaved {
    stores.own.save_member(&MemberChange { proven: None, ..change.clone() }).await
});

fault!(ChallengeOverAtItsExpiry: save_member(stores, change: &MemberChange) -> MemberSaved {
    let (now, live) = (time(), stores.own.member(&change.member.id).await?.challenge);
    if change.proven.is_some() && live.is_some_and(|challenge| now >= challenge.expires_at) {
        return Ok(MemberSaved::Stale);
    }
    SHOWN.scope(now, stores.own.save_member(change)).await
});

fault!(ExpiryUnchecked: save_member(stores, change: &MemberChange) -> MemberSaved {
    let live = stores.own.member(&change.member.id).await?.challenge;
    let early = live.map_or_else(time, |challenge| challenge.expires_at);
    SHOWN.scope(early, stores.own.save_member(change)).await
});

fault!(ChallengeNeverReused: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    let reusable_until = Timestamp::EPOCH;
    let fresh = Challenge { reusable_until, ..offer.fresh.clone() };
    stores.own.give_challenge(&ChallengeOffer { fresh, ..offer.clone() }).await?;
    Ok(offer.fresh.clone())
});

fault!(ChallengeReusableForEver: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    SHOWN.scope(Timestamp::EPOCH, stores.own.give_challenge(offer)).await
});

fault!(OneBucketForAll: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    let bucket = ChallengeBucket(offer.bucket.0 % 10);
    stores.own.give_challenge(&ChallengeOffer { bucket, ..offer.clone() }).await
});

// Only a fresh one is live.
fault!(ReusedIsNotLive: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    let decoy = ChallengeOffer { slot: ChallengeSlot::Decoy, ..offer.clone() };
    let given = stores.own.give_challenge(&decoy).await?;
    if given == offer.fresh { stores.own.give_challenge(offer).await } else { Ok(given) }
});

/// Checks and writes in two steps, without a lock.
#[derive(Default)]
pub(crate) struct GivenToEachOfARace(Mutex<Option<Challenge>>);

#[async_trait]
impl Fault for GivenToEachOfARace {
    async fn give_challenge(
        &self,
        stores: &TenantStores,
        offer: &ChallengeOffer,
    ) -> Result<Challenge> {
        let reusable = self.0.lock().unwrap().clone();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let fresh = reusable.unwrap_or_else(|| offer.fresh.clone());
        *self.0.lock().unwrap() = Some(fresh.clone());
        let apart = Challenge { reusable_until: Timestamp::EPOCH, ..fresh.clone() };
        stores.own.give_challenge(&ChallengeOffer { fresh: apart, ..offer.clone() }).await?;
        Ok(fresh)
    }
}

fault!(MailLost: save_member(stores, change: &MemberChange) -> MemberSaved {
    stores.own.save_member(&MemberChange { mail: None, ..change.clone() }).await
});

fault!(DocumentOfAnySession: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let guard = draft.guard.clone().filter(|it| matches!(it, DocumentGuard::Member(..)));
    stores.own.put_document(collection, &DocumentDraft { guard, ..draft.clone() }).await
});

fault!(TakesUncounted: save_session(stores, change: &SessionChange) -> Saved {
    stores.own.save_session(&SessionChange { takes: None, ..change.clone() }).await
});

fault!(LaterTakeUnchecked: save_session(stores, change: &SessionChange) -> Saved {
    stores.own.save_session(&SessionChange { none_filed_after: None, ..change.clone() }).await
});

/// The stored number of takes of a session is reset by each save.
#[derive(Default)]
pub(crate) struct CounterReset(Mutex<HashMap<SessionId, usize>>);

#[async_trait]
impl Fault for CounterReset {
    async fn save_session(&self, stores: &TenantStores, change: &SessionChange) -> Result<Saved> {
        let id = change.session.id;
        let filed = takes_of(&*stores.own, id).await?.len();
        let counted = filed - self.0.lock().unwrap().get(&id).copied().unwrap_or_default();
        if change.takes.is_some_and(|takes| takes != counted) {
            return Ok(Saved::Stale);
        }
        let saved =
            stores.own.save_session(&SessionChange { takes: None, ..change.clone() }).await?;
        if saved == Saved::Saved {
            self.0.lock().unwrap().insert(id, filed);
        }
        Ok(saved)
    }
}
