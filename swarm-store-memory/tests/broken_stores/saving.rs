//! Faults of what saves members, sessions and messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{Challenge, Member, MemberId, SecretHash, SessionId, Timestamp};
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, Collection, DocumentDraft, DocumentGuard, MemberChange,
    MemberQuery, MemberSaved, MessageChange, Put, Result, Saved, SessionChange, Slot, async_trait,
};

use crate::broken::{At, Fault, SHOWN, time};
use crate::tenants::fault;

fault!(MemberAtAnyVersion: save_member(at, change: &MemberChange) -> MemberSaved {
    let expected = at.own.member(&change.member.id).await?.member.map(|member| member.version);
    at.own.save_member(&MemberChange { expected, ..change.clone() }).await
});

fault!(SessionAtAnyVersion: save_session(at, change: &SessionChange) -> Saved {
    let there = at.own.session(change.session.id).await?;
    let expected = there.map_or(change.expected, |session| session.version);
    at.own.save_session(&SessionChange { expected, ..change.clone() }).await
});

fault!(MessageAtAnyVersion: save_message(at, change: &MessageChange) -> Saved {
    let all = at.own.messages(None, None).await?;
    let there = all.iter().find(|message| message.record.id == change.message.id);
    let expected = there.map_or(change.expected, |message| message.version);
    at.own.save_message(&MessageChange { expected, ..change.clone() }).await
});

fault!(MembersBeforeThePage: members(at, query: &MemberQuery) -> Vec<Arc<Member>> {
    at.own.members(&MemberQuery { after: None, ..query.clone() }).await
});

fault!(KeyIndexNotKept: save_member(at, change: &MemberChange) -> MemberSaved {
    match at.own.save_member(change).await? {
        MemberSaved::KeyHeld(_) => Ok(MemberSaved::Saved),
        other => Ok(other),
    }
});

/// Tokens find their members for ever.
#[derive(Default)]
pub(crate) struct OldTokensLive(Mutex<HashMap<SecretHash, MemberId>>);

#[async_trait]
impl Fault for OldTokensLive {
    async fn save_member(&self, at: &At, change: &MemberChange) -> Result<MemberSaved> {
        if let Some(token) = change.member.token {
            self.0.lock().unwrap().insert(token, change.member.id.clone());
        }
        at.own.save_member(change).await
    }

    async fn bearer(&self, at: &At, token: &SecretHash) -> Result<Option<Arc<Member>>> {
        let Some(id) = self.0.lock().unwrap().get(token).cloned() else { return Ok(None) };
        Ok(at.own.member(&id).await?.member.map(|member| member.record))
    }
}

fault!(QuotaOfMembersUnchecked: save_member(at, change: &MemberChange) -> MemberSaved {
    at.own.save_member(&MemberChange { quota: None, ..change.clone() }).await
});

fault!(QuotaOfDocumentsUnchecked: put_document(at, collection: Collection, draft: &DocumentDraft) -> Put {
    at.own.put_document(collection, &DocumentDraft { quota: None, ..draft.clone() }).await
});

fault!(NothingIsProven: save_member(at, change: &MemberChange) -> MemberSaved {
    at.own.save_member(&MemberChange { proven: None, ..change.clone() }).await
});

fault!(ChallengeOverAtItsExpiry: save_member(at, change: &MemberChange) -> MemberSaved {
    let (now, live) = (time(), at.own.member(&change.member.id).await?.challenge);
    if change.proven.is_some() && live.is_some_and(|challenge| now >= challenge.expires_at) {
        return Ok(MemberSaved::Stale);
    }
    SHOWN.scope(now, at.own.save_member(change)).await
});

fault!(ExpiryUnchecked: save_member(at, change: &MemberChange) -> MemberSaved {
    let live = at.own.member(&change.member.id).await?.challenge;
    let early = live.map_or_else(time, |challenge| challenge.expires_at);
    SHOWN.scope(early, at.own.save_member(change)).await
});

fault!(ChallengeNeverStands: give_challenge(at, offer: &ChallengeOffer) -> Challenge {
    let reusable_until = Timestamp::EPOCH;
    let fresh = Challenge { reusable_until, ..offer.fresh.clone() };
    at.own.give_challenge(&ChallengeOffer { fresh, ..offer.clone() }).await?;
    Ok(offer.fresh.clone())
});

fault!(ChallengeStandsForEver: give_challenge(at, offer: &ChallengeOffer) -> Challenge {
    SHOWN.scope(Timestamp::EPOCH, at.own.give_challenge(offer)).await
});

fault!(OneStandForAll: give_challenge(at, offer: &ChallengeOffer) -> Challenge {
    let bucket = ChallengeBucket(offer.bucket.0 % 10);
    at.own.give_challenge(&ChallengeOffer { bucket, ..offer.clone() }).await
});

// Only a fresh one is live.
fault!(StandingIsNotLive: give_challenge(at, offer: &ChallengeOffer) -> Challenge {
    let decoy = ChallengeOffer { slot: Slot::Decoy, ..offer.clone() };
    let given = at.own.give_challenge(&decoy).await?;
    if given == offer.fresh { at.own.give_challenge(offer).await } else { Ok(given) }
});

/// Looks first, and then writes what it has made up its mind to.
#[derive(Default)]
pub(crate) struct GivenToEachOfARace(Mutex<Option<Challenge>>);

#[async_trait]
impl Fault for GivenToEachOfARace {
    async fn give_challenge(&self, at: &At, offer: &ChallengeOffer) -> Result<Challenge> {
        let standing = self.0.lock().unwrap().clone();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let fresh = standing.unwrap_or_else(|| offer.fresh.clone());
        *self.0.lock().unwrap() = Some(fresh.clone());
        let apart = Challenge { reusable_until: Timestamp::EPOCH, ..fresh.clone() };
        at.own.give_challenge(&ChallengeOffer { fresh: apart, ..offer.clone() }).await?;
        Ok(fresh)
    }
}

fault!(MailLost: save_member(at, change: &MemberChange) -> MemberSaved {
    at.own.save_member(&MemberChange { mail: None, ..change.clone() }).await
});

fault!(DocumentOfAnySession: put_document(at, collection: Collection, draft: &DocumentDraft) -> Put {
    let guard = draft.guard.clone().filter(|it| matches!(it, DocumentGuard::Member(..)));
    at.own.put_document(collection, &DocumentDraft { guard, ..draft.clone() }).await
});

fault!(TakesUncounted: save_session(at, change: &SessionChange) -> Saved {
    at.own.save_session(&SessionChange { takes: None, ..change.clone() }).await
});

fault!(LaterTakeUnchecked: save_session(at, change: &SessionChange) -> Saved {
    at.own.save_session(&SessionChange { none_filed_after: None, ..change.clone() }).await
});

/// The number of takes that stands beside a session begins again with each save.
#[derive(Default)]
pub(crate) struct CounterReset(Mutex<HashMap<SessionId, usize>>);

#[async_trait]
impl Fault for CounterReset {
    async fn save_session(&self, at: &At, change: &SessionChange) -> Result<Saved> {
        let id = change.session.id;
        let filed = at.own.takes(id).await?.len();
        let counted = filed - self.0.lock().unwrap().get(&id).copied().unwrap_or_default();
        if change.takes.is_some_and(|takes| takes != counted) {
            return Ok(Saved::Stale);
        }
        let saved = at.own.save_session(&SessionChange { takes: None, ..change.clone() }).await?;
        if saved == Saved::Saved {
            self.0.lock().unwrap().insert(id, filed);
        }
        Ok(saved)
    }
}
