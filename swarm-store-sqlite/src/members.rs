//! Implements [`Members`]: members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Row, ToSql};
use swarm_core::Timestamp;
use swarm_core::domain::{
    Challenge, ChallengeSeed, Member, MemberId, MessageId, SecretHash, Version,
};
use swarm_core::store::records::Record;
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery,
    MemberRemoval, MemberSaved, Members, Result, Saved, Versioned,
};

use crate::failure::Outcome;
use crate::tenant_rows::{
    TenantRows, Values, limit_arg, next, record, saved, signed, timestamp, versioned,
};
use crate::{TenantStore, log_rows, outbox};

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        let id = id.clone();
        self.read("member", move |world| basis(world, &id)).await
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        let query = query.clone();
        self.read("members", move |world| listed(world, &query)).await
    }

    async fn bearer(&self, token: &SecretHash) -> Result<Option<Arc<Member>>> {
        let token = *token;
        let found = self.read("bearer", move |world| bearer(world, &token)).await?;
        Ok(found.map(|member| member.record))
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        let (change, text) = (change.clone(), change.member.to_text());
        let is_erasure = change.member.is_erased();
        let saved = self.write("save member", move |world| save(world, &change, &text)).await?;
        if is_erasure && saved == MemberSaved::Saved {
            self.database.scrub().await;
        }
        Ok(saved)
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        let removal = removal.clone();
        self.write("remove member", move |world| remove(world, &removal)).await
    }

    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        let offer = offer.clone();
        self.write("give challenge", move |world| give(world, &offer)).await
    }
}

/// The member that has this token hash.
pub(crate) fn bearer(
    world: &TenantRows<'_>,
    token: &SecretHash,
) -> Outcome<Option<Versioned<Member>>> {
    const BY_TOKEN: &str = "SELECT version, record FROM members WHERE tenant = ?1 AND token = ?2";
    world.one(BY_TOKEN, &[token.as_bytes()], versioned)
}

/// Whether a member is at this version.
pub(crate) fn is_at(world: &TenantRows<'_>, id: &MemberId, version: Version) -> Outcome<bool> {
    const AT: &str = "SELECT 1 FROM members WHERE tenant = ?1 AND id = ?2 AND version = ?3";
    world.any(AT, &[&id.as_str(), &signed(version.0)])
}

fn basis(world: &TenantRows<'_>, id: &MemberId) -> Outcome<MemberBasis> {
    const BY_ID: &str = "SELECT version, record FROM members WHERE tenant = ?1 AND id = ?2";
    Ok(MemberBasis {
        member: world.one(BY_ID, &[&id.as_str()], versioned)?,
        challenge: challenge(world, id)?,
    })
}

fn listed(world: &TenantRows<'_>, query: &MemberQuery) -> Outcome<Vec<Arc<Member>>> {
    const IN_STATE: &str = "SELECT record FROM members
        WHERE tenant = ?1 AND state = ?2 AND id > ?3 ORDER BY id LIMIT ?4";
    const BY_ID: &str = "SELECT record FROM members WHERE tenant = ?1 AND id = ?2";
    // No member has an empty id.
    let after = query.after.as_ref().map_or("", MemberId::as_str);
    let mut found: Vec<Arc<Member>> = Vec::new();
    if let Some(ids) = &query.ids {
        for id in ids {
            found.extend(world.one(BY_ID, &[&id.as_str()], record)?);
        }
        return Ok(query.select(found));
    }
    for state in &query.states {
        let values: Values<'_> = &[&state.as_str(), &after, &limit_arg(query.limit)];
        found.extend(world.all(IN_STATE, values, record)?);
    }
    Ok(query.select(found))
}

fn challenge(world: &TenantRows<'_>, id: &MemberId) -> Outcome<Option<Challenge>> {
    const LIVE: &str = "SELECT seed, stands_until, expires_at FROM challenges
        WHERE tenant = ?1 AND member = ?2";
    world.one(LIVE, &[&id.as_str()], read_challenge)
}

fn reusable(world: &TenantRows<'_>, bucket: ChallengeBucket) -> Outcome<Option<Challenge>> {
    const STANDING: &str = "SELECT seed, stands_until, expires_at FROM standing_challenges
        WHERE tenant = ?1 AND stand = ?2";
    world.one(STANDING, &[&bucket.0], read_challenge)
}

fn read_challenge(row: &Row<'_>) -> Outcome<Challenge> {
    Ok(Challenge {
        seed: ChallengeSeed(row.get(0)?),
        reusable_until: timestamp(row.get(1)?)?,
        expires_at: timestamp(row.get(2)?)?,
    })
}

fn give(world: &TenantRows<'_>, offer: &ChallengeOffer) -> Outcome<Challenge> {
    let now = world.now()?;
    let reusable = reusable(world, offer.bucket)?.filter(|it| now <= it.reusable_until);
    let given = reusable.unwrap_or_else(|| offer.fresh.clone());
    const STANDS: &str = "INSERT OR REPLACE INTO standing_challenges
        (tenant, stand, seed, stands_until, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    put_challenge(world, STANDS, &offer.bucket.0, &given)?;
    const IS_LIVE: &str = "INSERT OR REPLACE INTO challenges
        (tenant, member, seed, stands_until, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    // No member has an empty id.
    let member = match &offer.slot {
        ChallengeSlot::Member(id) => id.as_str(),
        ChallengeSlot::Decoy => "",
    };
    put_challenge(world, IS_LIVE, &member, &given)?;
    Ok(given)
}

fn put_challenge(
    world: &TenantRows<'_>,
    into: &str,
    place: &dyn ToSql,
    given: &Challenge,
) -> Outcome<()> {
    let until = [given.reusable_until, given.expires_at].map(Timestamp::millis);
    world.run(into, &[place, &given.seed.0, &until[0], &until[1]])?;
    Ok(())
}

fn save(world: &TenantRows<'_>, change: &MemberChange, text: &str) -> Outcome<MemberSaved> {
    let now = world.time_of_commit()?;
    if !is_as_judged(world, change)? || !is_proven(world, change, now)? {
        return Ok(MemberSaved::Stale);
    }
    if let Some(holder) = other_holder(world, change)? {
        return Ok(MemberSaved::KeyHeld(holder));
    }
    if is_full(world, change)? {
        return Ok(MemberSaved::Full);
    }
    commit(world, change, text)?;
    if let Some(act) = &change.act {
        log_rows::append_act(world, act, now)?;
    }
    if let Some(mail) = &change.mail {
        let id = world.next_id("SELECT max(id) FROM messages WHERE tenant = ?1", &[])?;
        outbox::queue(world, &mail.queued(MessageId(id), now))?;
    }
    Ok(MemberSaved::Saved)
}

fn remove(world: &TenantRows<'_>, removal: &MemberRemoval) -> Outcome<Saved> {
    const REMOVE: &str = "DELETE FROM members WHERE tenant = ?1 AND id = ?2 AND version = ?3";
    const CHALLENGE: &str = "DELETE FROM challenges WHERE tenant = ?1 AND member = ?2";
    world.time_of_commit()?;
    let id = removal.id.as_str();
    let removed = saved(world.run(REMOVE, &[&id, &signed(removal.expected.0)]))?;
    if removed == Saved::Saved {
        world.run(CHALLENGE, &[&id])?;
    }
    Ok(removed)
}

fn is_as_judged(world: &TenantRows<'_>, change: &MemberChange) -> Outcome<bool> {
    const ANY: &str = "SELECT 1 FROM members WHERE tenant = ?1 AND id = ?2";
    let id = &change.member.id;
    match change.expected {
        Some(version) => is_at(world, id, version),
        None => Ok(!world.any(ANY, &[&id.as_str()])?),
    }
}

fn is_proven(world: &TenantRows<'_>, change: &MemberChange, now: Timestamp) -> Outcome<bool> {
    let Some(proven) = &change.proven else { return Ok(true) };
    let live = challenge(world, &change.member.id)?;
    Ok(live.is_some_and(|live| live.seed == proven.0 && now <= live.expires_at))
}

/// Another member that holds the key of this change.
fn other_holder(world: &TenantRows<'_>, change: &MemberChange) -> Outcome<Option<MemberId>> {
    const HOLDER: &str = "SELECT id FROM members WHERE tenant = ?1 AND held_key = ?2 AND id <> ?3";
    let Some(key) = change.held_key() else { return Ok(None) };
    world.one(HOLDER, &[key.as_bytes(), &change.member.id.as_str()], |row| {
        Ok(MemberId::parse(row.get::<_, String>(0)?)?)
    })
}

/// Whether the quota of members in this state is reached.
fn is_full(world: &TenantRows<'_>, change: &MemberChange) -> Outcome<bool> {
    const OTHERS: &str = "SELECT count(*) FROM members
        WHERE tenant = ?1 AND state = ?2 AND id <> ?3";
    let Some(quota) = change.quota else { return Ok(false) };
    let (state, id) = (change.member.state.as_str(), change.member.id.as_str());
    Ok(world.number(OTHERS, &[&state, &id])? >= Some(u64::from(quota)))
}

/// Commits a change whose guards hold.
pub(crate) fn commit(world: &TenantRows<'_>, change: &MemberChange, text: &str) -> Outcome<()> {
    let MemberChange { member, expected, .. } = change;
    world.run(
        "INSERT INTO members (tenant, id, version, state, token, held_key, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (tenant, id) DO UPDATE SET version = excluded.version,
            state = excluded.state, token = excluded.token, held_key = excluded.held_key,
            record = excluded.record",
        &[
            &member.id.as_str(),
            &next(*expected),
            &member.state.as_str(),
            &member.token.as_ref().map(|token| *token.as_bytes()),
            &change.held_key().map(|key| *key.as_bytes()),
            &text,
        ],
    )?;
    Ok(())
}
