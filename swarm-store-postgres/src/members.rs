//! Implements [`Members`]: members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::Timestamp;
use swarm_core::domain::{
    Challenge, ChallengeSeed, Member, MemberId, MessageId, TokenHash, Version,
};
use swarm_core::store::records::Record as _;
use swarm_core::store::{
    ChallengeOffer, ChallengeSlot, MemberBasis, MemberChange, MemberQuery, MemberRemoval,
    MemberSaved, Members, Result, Saved,
};
use tokio_postgres::Row;

use crate::commit::{Change, Committed, to_complete};
use crate::db::{
    Arg, after, any, bytes, limit, moment_of, record, signed, text, timestamp, unescaped,
    versioned_at,
};
use crate::failure::{Failure, Outcome};
use crate::tenant::TenantStore;

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        const BASIS: &str = include_str!("queries/member_and_challenge.sql");
        let found = self.one("member", BASIS, &[text(id.as_str())], basis).await?;
        Ok(found.unwrap_or(MemberBasis { member: None, challenge: None }))
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        const BY_ID: &str = "SELECT record FROM swarm.members WHERE tenant = $1 AND id = ANY ($2)";
        if let Some(ids) = &query.ids {
            let ids = Arg::texts(ids.iter().map(MemberId::as_str));
            let found = self.all("members", BY_ID, &[ids], record).await?;
            return Ok(query.select(found));
        }
        const IN_STATES: &str = include_str!("queries/members_in_states.sql");
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
        const OP: &str = "save member";
        const SAVE: &str = include_str!("commits/save_member.sql");
        let MemberChange { member, expected, proven, mail, quota, act } = change;
        let mut args = row(member, after(*expected));
        args["expected"] = expected.map(|version| signed(version.0)).into();
        args["proven"] = proven.as_ref().map(|proven| bytes(&proven.0.0)).into();
        args["quota"] = (*quota).into();
        if let Some(mail) = mail {
            let message = mail.queued(MessageId(0), Timestamp::EPOCH);
            args["mail"] = to_complete(&message.to_text(), &["id", "queuedAt", "dueAt"]).into();
            args["mail_state"] = message.state.as_str().into();
        }
        let saved = self.commit(Change::new(OP, SAVE, args).with(act)).await?;
        match (&*saved.outcome, &saved.detail) {
            ("saved", _) => Ok(MemberSaved::Saved),
            ("stale", _) => Ok(MemberSaved::Stale),
            ("full", _) => Ok(MemberSaved::Full),
            ("key held", Some(holder)) => {
                let holder = MemberId::parse(unescaped(holder)).map_err(Failure::corrupt);
                Ok(MemberSaved::KeyHeld(holder.map_err(|failure| failure.of(OP))?))
            }
            _ => Err(saved.unknown(OP)),
        }
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        const REMOVE: &str = include_str!("commits/remove_member.sql");
        let args = json!({"id": any(removal.id.as_str()), "expected": signed(removal.expected.0)});
        self.save(Change::new("remove member", REMOVE, args)).await
    }

    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        const OP: &str = "give challenge";
        const GIVE: &str = include_str!("commits/give_challenge.sql");
        // No member has an empty id.
        let member = match &offer.slot {
            ChallengeSlot::Member(id) => id.as_str(),
            ChallengeSlot::Decoy => "",
        };
        let fresh = &offer.fresh;
        let args = json!({
            "bucket": offer.bucket.0,
            "member": any(member),
            "seed": bytes(&fresh.seed.0),
            "reusable_until": fresh.reusable_until.millis(),
            "expires_at": fresh.expires_at.millis(),
        });
        let given = self.commit(Change::new(OP, GIVE, args)).await?;
        given_challenge(&given).map_err(|failure| failure.of(OP))
    }
}

/// The row of a member at this version.
pub(crate) fn row(member: &Member, version: Version) -> Value {
    json!({
        "id": any(member.id.as_str()),
        "version": signed(version.0),
        "state": member.state.as_str(),
        "token": member.token.as_ref().map(|token| bytes(token.as_bytes())),
        "held_key": member.held_key().map(|key| bytes(key.as_bytes())),
        "record": member.to_text(),
    })
}

fn basis(row: &Row) -> Outcome<MemberBasis> {
    let seed: Option<&[u8]> = row.try_get(2)?;
    let challenge = seed.map(|seed| {
        let seed = seed.try_into().map_err(|_| Failure::corrupt("no seed"))?;
        let (reusable_until, expires_at) = (moment_of(row, 3)?, moment_of(row, 4)?);
        Ok::<_, Failure>(Challenge { seed: ChallengeSeed(seed), reusable_until, expires_at })
    });
    Ok(MemberBasis { member: versioned_at(row, 0)?, challenge: challenge.transpose()? })
}

/// The challenge that a commit gave out: its seed in hexadecimal digits, and its times.
fn given_challenge(given: &Committed) -> Outcome<Challenge> {
    let no_challenge = || Failure::corrupt("no challenge");
    let words: Vec<_> = given.detail.as_deref().unwrap_or_default().split(' ').collect();
    let [seed, reusable_until, expires_at] = words[..] else { return Err(no_challenge()) };
    let moment = |text: &str| timestamp(text.parse().map_err(|_| no_challenge())?);
    Ok(Challenge {
        seed: ChallengeSeed::parse(seed)?,
        reusable_until: moment(reusable_until)?,
        expires_at: moment(expires_at)?,
    })
}
