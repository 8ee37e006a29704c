//! Members, their tokens, keys and challenges.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{Challenge, Member, MemberId, MessageId, TokenHash};
use swarm_core::store::{
    ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery, MemberRemoval,
    MemberSaved, Members, Result, Saved,
};

use crate::TenantStore;
use crate::world::{MemberRow, World, count, first, next, next_id};

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        Ok(self.read(|world| MemberBasis {
            member: world.members.get(id).map(|row| row.member.clone()),
            challenge: world.challenges.get(id).cloned(),
        }))
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        Ok(self.read(|world| {
            let member = |id: &MemberId| Some(Arc::clone(&world.members.get(id)?.member.record));
            query.select(match &query.ids {
                Some(ids) => ids.iter().filter_map(member).collect(),
                None => {
                    let ids = query.states.iter().flat_map(|state| world.in_state(*state, query));
                    ids.filter_map(member).collect()
                }
            })
        }))
    }

    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>> {
        Ok(self.read(|world| world.bearer(token).map(|row| Arc::clone(&row.member.record))))
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        self.commit(|world, now| save(world, change, now))
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        self.commit(|world, _| remove(world, removal))
    }

    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        self.commit(|world, now| give(world, offer, now))
    }
}

fn save(world: &mut World, change: &MemberChange, now: Timestamp) -> MemberSaved {
    let id = &change.member.id;
    let stored = world.members.get(id).map(|row| row.member.version);
    if stored != change.expected || !is_proven(world, change, now) {
        return MemberSaved::Stale;
    }
    let holder = change.held_key().and_then(|key| world.keys.get(key));
    if let Some(other) = holder.filter(|holder| *holder != id) {
        return MemberSaved::KeyHeld(other.clone());
    }
    let others = world.states.get(&change.member.state);
    let others = others.map_or(0, |ids| ids.len() - usize::from(ids.contains(id)));
    if change.quota.is_some_and(|quota| others >= count(quota)) {
        return MemberSaved::Full;
    }
    commit(world, change, now);
    MemberSaved::Saved
}

fn is_proven(world: &World, change: &MemberChange, now: Timestamp) -> bool {
    change.proven.as_ref().is_none_or(|proven| {
        world
            .challenges
            .get(&change.member.id)
            .is_some_and(|live| live.seed == proven.0 && now <= live.expires_at)
    })
}

fn give(world: &mut World, offer: &ChallengeOffer, now: Timestamp) -> Challenge {
    let reusable =
        world.reusable_challenges.get(&offer.bucket).filter(|it| now <= it.reusable_until);
    let given = reusable.unwrap_or(&offer.fresh).clone();
    world.reusable_challenges.insert(offer.bucket, given.clone());
    match &offer.slot {
        ChallengeSlot::Member(id) => drop(world.challenges.insert(id.clone(), given.clone())),
        ChallengeSlot::Decoy => world.decoy = Some(given.clone()),
    }
    given
}

fn remove(world: &mut World, removal: &MemberRemoval) -> Saved {
    let stored = world.members.get(&removal.id).map(|row| row.member.version);
    if stored != Some(removal.expected) {
        return Saved::Stale;
    }
    take_from_indexes(world, &removal.id);
    world.members.remove(&removal.id);
    world.challenges.remove(&removal.id);
    Saved::Saved
}

fn take_from_indexes(world: &mut World, id: &MemberId) {
    let Some(row) = world.members.get(id) else { return };
    let stored = Arc::clone(&row.member.record);
    stored.token.map(|token| world.tokens.remove(&token));
    world.states.get_mut(&stored.state).map(|ids| ids.remove(id));
    let held = stored.public_key.as_ref();
    held.filter(|key| world.keys.get(key) == Some(id)).map(|key| world.keys.remove(key));
}

/// Commits a change whose guards hold.
pub(crate) fn commit(world: &mut World, change: &MemberChange, now: Timestamp) {
    let member = change.member.clone();
    let id = member.id.clone();
    take_from_indexes(world, &id);
    world.states.entry(member.state).or_default().insert(id.clone());
    member.token.map(|token| world.tokens.insert(token, id.clone()));
    change.held_key().map(|key| world.keys.insert(key.clone(), id.clone()));
    if let Some(mail) = &change.mail {
        let id = MessageId(next_id(world.outbox.len()));
        world.outbox.push(first(mail.queued(id, now)));
    }
    if let Some(act) = &change.act {
        world.log.act(act, now);
    }
    match world.members.get_mut(&id) {
        Some(row) => row.member = next(row.member.version, member),
        None => {
            let row = MemberRow {
                member: first(member),
                nonces: HashMap::new(),
                sessions: BTreeSet::new(),
            };
            world.members.insert(id, row);
        }
    }
}
