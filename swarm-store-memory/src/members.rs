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
use crate::tenant_records::{MemberRow, TenantRecords, count, first, next, next_id};

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        Ok(self.read(|tenant| MemberBasis {
            member: tenant.members.get(id).map(|row| row.member.clone()),
            challenge: tenant.challenges.get(id).cloned(),
        }))
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        Ok(self.read(|tenant| {
            let member = |id: &MemberId| Some(Arc::clone(&tenant.members.get(id)?.member.record));
            query.select(match &query.ids {
                Some(ids) => ids.iter().filter_map(member).collect(),
                None => {
                    let ids = query.states.iter().flat_map(|state| tenant.in_state(*state, query));
                    ids.filter_map(member).collect()
                }
            })
        }))
    }

    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>> {
        Ok(self.read(|tenant| tenant.bearer(token).map(|row| Arc::clone(&row.member.record))))
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        self.commit(|tenant, now| save(tenant, change, now))
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        self.commit(|tenant, _| remove(tenant, removal))
    }

    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        self.commit(|tenant, now| give(tenant, offer, now))
    }
}

fn save(tenant: &mut TenantRecords, change: &MemberChange, now: Timestamp) -> MemberSaved {
    let id = &change.member.id;
    let stored = tenant.members.get(id).map(|row| row.member.version);
    if stored != change.expected || !is_proven(tenant, change, now) {
        return MemberSaved::Stale;
    }
    let holder = change.held_key().and_then(|key| tenant.keys.get(key));
    if let Some(other) = holder.filter(|holder| *holder != id) {
        return MemberSaved::KeyHeld(other.clone());
    }
    let others = tenant.states.get(&change.member.state);
    let others = others.map_or(0, |ids| ids.len() - usize::from(ids.contains(id)));
    if change.quota.is_some_and(|quota| others >= count(quota)) {
        return MemberSaved::Full;
    }
    commit(tenant, change, now);
    MemberSaved::Saved
}

fn is_proven(tenant: &TenantRecords, change: &MemberChange, now: Timestamp) -> bool {
    change.proven.as_ref().is_none_or(|proven| {
        tenant
            .challenges
            .get(&change.member.id)
            .is_some_and(|live| live.seed == proven.0 && now <= live.expires_at)
    })
}

fn give(tenant: &mut TenantRecords, offer: &ChallengeOffer, now: Timestamp) -> Challenge {
    let reusable =
        tenant.reusable_challenges.get(&offer.bucket).filter(|it| now <= it.reusable_until);
    let given = reusable.unwrap_or(&offer.fresh).clone();
    tenant.reusable_challenges.insert(offer.bucket, given.clone());
    match &offer.slot {
        ChallengeSlot::Member(id) => drop(tenant.challenges.insert(id.clone(), given.clone())),
        ChallengeSlot::Decoy => tenant.decoy = Some(given.clone()),
    }
    given
}

fn remove(tenant: &mut TenantRecords, removal: &MemberRemoval) -> Saved {
    let stored = tenant.members.get(&removal.id).map(|row| row.member.version);
    if stored != Some(removal.expected) {
        return Saved::Stale;
    }
    take_from_indexes(tenant, &removal.id);
    tenant.members.remove(&removal.id);
    tenant.challenges.remove(&removal.id);
    Saved::Saved
}

fn take_from_indexes(tenant: &mut TenantRecords, id: &MemberId) {
    let Some(row) = tenant.members.get(id) else { return };
    let stored = Arc::clone(&row.member.record);
    stored.token.map(|token| tenant.tokens.remove(&token));
    tenant.states.get_mut(&stored.state).map(|ids| ids.remove(id));
    let held = stored.public_key.as_ref();
    held.filter(|key| tenant.keys.get(key) == Some(id)).map(|key| tenant.keys.remove(key));
}

/// Commits a change whose guards hold.
pub(crate) fn commit(tenant: &mut TenantRecords, change: &MemberChange, now: Timestamp) {
    let member = change.member.clone();
    let id = member.id.clone();
    take_from_indexes(tenant, &id);
    tenant.states.entry(member.state).or_default().insert(id.clone());
    member.token.map(|token| tenant.tokens.insert(token, id.clone()));
    change.held_key().map(|key| tenant.keys.insert(key.clone(), id.clone()));
    if let Some(mail) = &change.mail {
        let id = MessageId(next_id(tenant.outbox.len()));
        tenant.outbox.push(first(mail.queued(id, now)));
    }
    if let Some(act) = &change.act {
        tenant.log.act(act, now);
    }
    match tenant.members.get_mut(&id) {
        Some(row) => row.member = next(row.member.version, member),
        None => {
            let row = MemberRow {
                member: first(member),
                nonces: HashMap::new(),
                sessions: BTreeSet::new(),
            };
            tenant.members.insert(id, row);
        }
    }
}
