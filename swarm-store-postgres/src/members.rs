//! Implements [`Members`]: members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{
    Challenge, ChallengeSeed, Member, MemberId, MessageId, TokenHash, Version,
};
use swarm_core::store::records::Record as _;
use swarm_core::store::{
    ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery, MemberRemoval,
    MemberSaved, Members, Result, Saved, Versioned,
};
use tokio_postgres::Row;

use crate::commit::{Change, Commit, Kind};
use crate::db::{
    Arg, Db, limit, moment, moment_of, next, number, number_of, owned, record, saved, text,
    text_of, versioned,
};
use crate::failure::{Failure, Outcome};
use crate::outbox;
use crate::tenant::TenantStore;

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        const BASIS: &str = "SELECT m.version, m.record, c.seed, c.reusable_until, c.expires_at
            FROM (SELECT $2 AS id) AS wanted
            LEFT JOIN swarm.members m ON m.tenant = $1 AND m.id = wanted.id
            LEFT JOIN swarm.challenges c ON c.tenant = $1 AND c.member = wanted.id";
        let found = self.one("member", BASIS, &[text(id.as_str())], basis).await?;
        Ok(found.unwrap_or(MemberBasis { member: None, challenge: None }))
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        // Each state is read from its index, up to the limit.
        const IN_STATES: &str = "SELECT found.record FROM unnest($2) AS wanted (state)
            CROSS JOIN LATERAL (
                SELECT id, record FROM swarm.members
                WHERE tenant = $1 AND state = wanted.state AND id > $3 ORDER BY id LIMIT $4
            ) AS found
            ORDER BY found.id LIMIT $4";
        let states = query.states.iter().map(|state| state.as_str().into()).collect();
        // No member has an empty id.
        let after = query.after.as_ref().map_or("", MemberId::as_str);
        let values = [Arg::Texts(states), text(after), limit(query.limit)];
        self.all("members", IN_STATES, &values, record).await
    }

    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>> {
        const BY_TOKEN: &str = "SELECT record FROM swarm.members WHERE tenant = $1 AND token = $2";
        self.one("bearer", BY_TOKEN, &[Arg::Bytes(token.as_bytes())], record).await
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        self.commit("save member", change).await
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        self.commit("remove member", removal).await
    }

    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        self.commit("give challenge", offer).await
    }
}

/// Whether a member is at this version.
pub(crate) async fn is_at(db: &Db<'_>, id: &MemberId, version: Version) -> Outcome<bool> {
    const AT: &str = "SELECT 1 FROM swarm.members WHERE tenant = $1 AND id = $2 AND version = $3";
    db.any(AT, &[text(id.as_str()), number(version.0)]).await
}

fn basis(row: &Row) -> Outcome<MemberBasis> {
    let version: Option<i64> = row.try_get(0)?;
    let member: Option<Versioned<Member>> = version.map(|_| versioned(row)).transpose()?;
    let seed: Option<&[u8]> = row.try_get(2)?;
    let challenge = seed.map(|seed| challenge(row, seed, 3)).transpose()?;
    Ok(MemberBasis { member, challenge })
}

/// The challenge with this seed, whose times begin at a column.
fn challenge(row: &Row, seed: &[u8], column: usize) -> Outcome<Challenge> {
    let seed = seed.try_into().map_err(|_| Failure::corrupt("no seed"))?;
    Ok(Challenge {
        seed: ChallengeSeed(seed),
        reusable_until: moment_of(row, column)?,
        expires_at: moment_of(row, column + 1)?,
    })
}

#[async_trait]
impl Change for ChallengeOffer {
    type Made = Challenge;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Challenge> {
        const REUSABLE: &str =
            "SELECT seed, reusable_until, expires_at FROM swarm.reusable_challenges
            WHERE tenant = $1 AND bucket = $2";
        const REUSE: &str = "INSERT INTO swarm.reusable_challenges
                (tenant, bucket, seed, reusable_until, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (tenant, bucket) DO UPDATE SET seed = excluded.seed,
                reusable_until = excluded.reusable_until, expires_at = excluded.expires_at";
        const LIVE: &str = "INSERT INTO swarm.challenges
                (tenant, member, seed, reusable_until, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (tenant, member) DO UPDATE SET seed = excluded.seed,
                reusable_until = excluded.reusable_until, expires_at = excluded.expires_at";
        let now = commit.time()?;
        let bucket = || number(self.bucket.0.into());
        let read = |row: &Row| challenge(row, row.try_get(0)?, 1);
        let reusable: Option<Challenge> = commit.db().one(REUSABLE, &[bucket()], read).await?;
        let reusable = reusable.filter(|it| now <= it.reusable_until);
        let given = reusable.unwrap_or_else(|| self.fresh.clone());
        // No member has an empty id.
        let member = match &self.slot {
            ChallengeSlot::Member(id) => id.as_str(),
            ChallengeSlot::Decoy => "",
        };
        for (sql, place) in [(REUSE, bucket()), (LIVE, text(member))] {
            let until = [given.reusable_until, given.expires_at].map(moment);
            let [reusable_until, expires_at] = until;
            let values = [place, Arg::Bytes(&given.seed.0), reusable_until, expires_at];
            commit.run(sql, &values).await?;
        }
        Ok(given)
    }
}

#[async_trait]
impl Change for MemberChange {
    type Made = MemberSaved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<MemberSaved> {
        let (db, now) = (commit.db(), commit.time()?);
        if !is_as_judged(&db, self).await? || !is_proven(&db, self, now).await? {
            return Ok(MemberSaved::Stale);
        }
        if let Some(holder) = other_holder(&db, self).await? {
            return Ok(MemberSaved::KeyHeld(holder));
        }
        if is_full(&db, self).await? {
            return Ok(MemberSaved::Full);
        }
        write(commit, self).await?;
        if let Some(act) = &self.act {
            commit.append(act, now, 0).await?;
        }
        if let Some(mail) = &self.mail {
            let id = MessageId(commit.next_id(Kind::Message));
            outbox::queue(commit, &mail.queued(id, now)).await?;
        }
        Ok(MemberSaved::Saved)
    }
}

#[async_trait]
impl Change for MemberRemoval {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const REMOVE: &str =
            "DELETE FROM swarm.members WHERE tenant = $1 AND id = $2 AND version = $3";
        const CHALLENGE: &str = "DELETE FROM swarm.challenges WHERE tenant = $1 AND member = $2";
        commit.time()?;
        let id = self.id.as_str();
        let removed = saved(commit.run(REMOVE, &[text(id), number(self.expected.0)]).await?);
        if removed == Saved::Saved {
            commit.run(CHALLENGE, &[text(id)]).await?;
        }
        Ok(removed)
    }
}

async fn is_as_judged(db: &Db<'_>, change: &MemberChange) -> Outcome<bool> {
    const ANY: &str = "SELECT 1 FROM swarm.members WHERE tenant = $1 AND id = $2";
    let id = &change.member.id;
    match change.expected {
        Some(version) => is_at(db, id, version).await,
        None => Ok(!db.any(ANY, &[text(id.as_str())]).await?),
    }
}

async fn is_proven(db: &Db<'_>, change: &MemberChange, now: Timestamp) -> Outcome<bool> {
    const LIVE: &str = "SELECT seed, reusable_until, expires_at FROM swarm.challenges
        WHERE tenant = $1 AND member = $2";
    let Some(proven) = &change.proven else { return Ok(true) };
    let read = |row: &Row| challenge(row, row.try_get(0)?, 1);
    let live = db.one(LIVE, &[text(change.member.id.as_str())], read).await?;
    Ok(live.is_some_and(|live| live.seed == proven.0 && now <= live.expires_at))
}

/// Another member that holds the key of this change.
async fn other_holder(db: &Db<'_>, change: &MemberChange) -> Outcome<Option<MemberId>> {
    const HOLDER: &str =
        "SELECT id FROM swarm.members WHERE tenant = $1 AND held_key = $2 AND id <> $3";
    let Some(key) = change.held_key() else { return Ok(None) };
    let values = [Arg::Bytes(key.as_bytes()), text(change.member.id.as_str())];
    db.one(HOLDER, &values, |row| Ok(MemberId::parse(text_of(row, 0)?)?)).await
}

/// Whether the quota of members in this state is reached.
async fn is_full(db: &Db<'_>, change: &MemberChange) -> Outcome<bool> {
    const OTHERS: &str = "SELECT count(*) FROM swarm.members
        WHERE tenant = $1 AND state = $2 AND id <> $3";
    let Some(quota) = change.quota else { return Ok(false) };
    let values = [text(change.member.state.as_str()), text(change.member.id.as_str())];
    let others = db.one(OTHERS, &values, |row| number_of(row, 0)).await?;
    Ok(others >= Some(u64::from(quota)))
}

async fn write(commit: &mut Commit<'_>, change: &MemberChange) -> Outcome<()> {
    const WRITE: &str =
        "INSERT INTO swarm.members (tenant, id, version, state, token, held_key, record)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (tenant, id) DO UPDATE SET version = excluded.version,
            state = excluded.state, token = excluded.token, held_key = excluded.held_key,
            record = excluded.record";
    let MemberChange { member, expected, .. } = change;
    let values = [
        text(member.id.as_str()),
        next(*expected),
        text(member.state.as_str()),
        Arg::MaybeBytes(member.token.as_ref().map(|token| &token.as_bytes()[..])),
        Arg::MaybeBytes(change.held_key().map(|key| &key.as_bytes()[..])),
        owned(member.to_text()),
    ];
    commit.run(WRITE, &values).await.map(drop)
}
