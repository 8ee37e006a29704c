//! Faults of members, their keys and their challenges.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use swarm_core::domain::{Challenge, Lens, Member, MemberId, MemberState, SecretHash, Version};
use swarm_core::store::{
    ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery, MemberRemoval,
    MemberSaved, Result, Saved, Versioned, async_trait,
};
use swarm_testing::{FIRST, applicant, creation};

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(MemberInvented: member(stores, id: &MemberId) -> MemberBasis {
    let mut facts = stores.own.member(id).await?;
    facts.member.get_or_insert_with(|| Versioned {
        version: FIRST,
        record: Arc::new(applicant(id.as_str())),
    });
    Ok(facts)
});

fault!(LensForgotten: member(stores, id: &MemberId) -> MemberBasis {
    let facts = stores.own.member(id).await?;
    let member = facts.member.map(|Versioned { version, record }| {
        let lens = Lens::parse("").unwrap();
        Versioned { version, record: Arc::new(Member { lens, ..Member::clone(&record) }) }
    });
    Ok(MemberBasis { member, ..facts })
});

fault!(VersionsByTwo: member(stores, id: &MemberId) -> MemberBasis {
    let facts = stores.own.member(id).await?;
    let twice = |it: Versioned<Member>| Versioned { version: Version(2 * it.version.0), ..it };
    Ok(MemberBasis { member: facts.member.map(twice), ..facts })
});

fault!(IdsInAnyCase: save_member(stores, change: &MemberChange) -> MemberSaved {
    let id = MemberId::parse(change.member.id.as_str().to_lowercase()).unwrap();
    let member = Member { id, ..change.member.clone() };
    stores.own.save_member(&MemberChange { member, ..change.clone() }).await
});

fault!(StatesUnasked: members(stores, query: &MemberQuery) -> Vec<Arc<Member>> {
    stores.own.members(&MemberQuery { states: MemberState::ALL.to_vec(), ..query.clone() }).await
});

fault!(IdsUnasked: members(stores, query: &MemberQuery) -> Vec<Arc<Member>> {
    stores.own.members(&MemberQuery { ids: None, ..query.clone() }).await
});

fault!(TokensOfTheActiveAlone: bearer(stores, token: &SecretHash) -> Option<Arc<Member>> {
    Ok(stores.own.bearer(token).await?.filter(|member| member.state.is_active()))
});

// A key counts as held in any state.
fault!(KeyHeldInAnyState: save_member(stores, change: &MemberChange) -> MemberSaved {
    let all = stores.own.members(&MemberQuery::in_states(&MemberState::ALL)).await?;
    let has_it = |other: &Arc<Member>| {
        other.id != change.member.id && other.public_key == change.member.public_key
    };
    match all.into_iter().find(has_it) {
        Some(other) => Ok(MemberSaved::KeyHeld(other.id.clone())),
        None => stores.own.save_member(change).await,
    }
});

fault!(HolderKeptOut: save_member(stores, change: &MemberChange) -> MemberSaved {
    match change.expected.and(change.held_key()) {
        Some(_) => Ok(MemberSaved::KeyHeld(change.member.id.clone())),
        None => stores.own.save_member(change).await,
    }
});

// The state of a removed member is rejected.
fault!(RemovalsForgotten: remove_member(stores, removal: &MemberRemoval) -> Saved {
    let Some(member) = stores.own.member(&removal.id).await?.member else { return Ok(Saved::Stale) };
    let member = Member { state: MemberState::Rejected, ..Member::clone(&member.record) };
    let change = MemberChange { expected: Some(removal.expected), ..creation(&member) };
    Ok(match stores.own.save_member(&change).await? {
        MemberSaved::Saved => Saved::Saved,
        _ => Saved::Stale,
    })
});

fault!(RemovedAtAnyVersion: remove_member(stores, removal: &MemberRemoval) -> Saved {
    let Some(member) = stores.own.member(&removal.id).await?.member else { return Ok(Saved::Stale) };
    let removal = MemberRemoval { expected: member.version, ..removal.clone() };
    stores.own.remove_member(&removal).await
});

fault!(FirstChallengeStays: give_challenge(stores, offer: &ChallengeOffer) -> Challenge {
    if let ChallengeSlot::Member(id) = &offer.slot
        && stores.own.member(id).await?.challenge.is_some()
    {
        return Ok(offer.fresh.clone());
    }
    stores.own.give_challenge(offer).await
});

/// The decoy is anybody's challenge.
#[derive(Default)]
pub(crate) struct DecoyIsLive(Mutex<Option<Challenge>>);

#[async_trait]
impl Fault for DecoyIsLive {
    async fn give_challenge(
        &self,
        stores: &TenantStores,
        offer: &ChallengeOffer,
    ) -> Result<Challenge> {
        let given = stores.own.give_challenge(offer).await?;
        if matches!(offer.slot, ChallengeSlot::Decoy) {
            *self.0.lock().unwrap() = Some(given.clone());
        }
        Ok(given)
    }

    async fn member(&self, stores: &TenantStores, id: &MemberId) -> Result<MemberBasis> {
        let facts = stores.own.member(id).await?;
        let challenge = facts.challenge.clone().or_else(|| self.0.lock().unwrap().clone());
        Ok(MemberBasis { challenge, ..facts })
    }
}

/// A save deletes the member's challenge.
#[derive(Default)]
pub(crate) struct ChallengeGoesWithASave(Mutex<HashSet<MemberId>>);

#[async_trait]
impl Fault for ChallengeGoesWithASave {
    async fn save_member(
        &self,
        stores: &TenantStores,
        change: &MemberChange,
    ) -> Result<MemberSaved> {
        self.0.lock().unwrap().insert(change.member.id.clone());
        stores.own.save_member(change).await
    }

    async fn member(&self, stores: &TenantStores, id: &MemberId) -> Result<MemberBasis> {
        let facts = stores.own.member(id).await?;
        let gone = self.0.lock().unwrap().contains(id);
        Ok(MemberBasis { challenge: facts.challenge.filter(|_| !gone), ..facts })
    }
}
