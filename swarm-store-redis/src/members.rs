//! Implements [`Members`]: members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{Challenge, MailState, Member, TokenHash};
use swarm_core::store::{
    ChallengeOffer, MemberBasis, MemberChange, MemberQuery, MemberRemoval, MemberSaved, Members,
    Result, Saved,
};
use swarm_core::{MemberId, StoreError};

use crate::codec::{self, Context};
use crate::keys::BY_STATE;
use crate::rows::{entry_arg, limit_arg, next, optional, version_arg};
use crate::script_call::ScriptCall;
use crate::tenant::TenantStore;
use crate::{keys, rows, scripts};

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        let keys = [self.keys.members(), self.keys.challenges()];
        let mut script = ScriptCall::of(&scripts::MEMBER, keys);
        script.arg(id.as_str()).arg(keys::member_slot(id));
        let rows: (Option<String>, Option<String>) = self.read("member", &script).await?;
        Ok(MemberBasis {
            member: codec::decode_optional(rows.0.as_ref(), codec::decode_member)
                .context("member")?,
            challenge: codec::decode_optional(rows.1.as_ref(), codec::decode_challenge)
                .context("member")?,
        })
    }

    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>> {
        const OP: &str = "members";
        let decode = |row: &str| Ok(codec::decode_member(row)?.record);
        if let Some(ids) = &query.ids {
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let ids: Vec<_> = ids.iter().map(MemberId::as_str).collect();
            let get = redis::cmd("HMGET").arg(self.keys.members()).arg(ids).to_owned();
            let rows: Vec<Option<String>> = self.query(OP, &get).await?;
            let rows: Vec<_> = rows.into_iter().flatten().collect();
            return Ok(query.select(codec::decode_each(&rows, decode).context(OP)?));
        }
        let keys = [self.keys.members(), self.keys.members_index()];
        let mut script = ScriptCall::of(&scripts::MEMBERS, keys);
        script.arg(query.after.as_ref().map_or("", MemberId::as_str)).arg(limit_arg(query.limit));
        for state in &query.states {
            script.arg(keys::in_state(state.as_str()));
        }
        let rows: Vec<String> = self.read(OP, &script).await?;
        Ok(query.select(codec::decode_each(&rows, decode).context(OP)?))
    }

    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>> {
        let keys = [self.keys.tokens(), self.keys.members()];
        let mut script = ScriptCall::of(&scripts::THROUGH, keys);
        script.arg(codec::encode_hash(token));
        let row: Option<String> = self.read("bearer", &script).await?;
        codec::decode_optional(row.as_ref(), |row| Ok(codec::decode_member(row)?.record))
            .context("bearer")
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        let member = &change.member;
        let challenge = change.proven.as_ref().map(|proven| proven.0.to_string());
        let queued = MailState::Queued.as_str();

        let keys = [
            self.attempt("save member")?,
            self.keys.members(),
            self.keys.tokens(),
            self.keys.held_keys(),
            self.keys.challenges(),
            self.keys.members_index(),
            self.keys.outbox(),
            self.keys.outbox_index(),
            self.keys.counters(),
        ];
        let mut script = self.call(&scripts::SAVE_MEMBER, keys);
        script.arg(member.id.as_str()).arg(version_arg(change.expected));
        script.arg(codec::encode_member(next(change.expected), member));
        script.arg(codec::encode_token(member).unwrap_or_default());
        script.arg(change.held_key().map(ToString::to_string).unwrap_or_default());
        script.arg(keys::member_slot(&member.id)).arg(challenge.unwrap_or_default());
        script.arg(change.mail.as_ref().map(codec::encode_mail).unwrap_or_default());
        script.arg(queued).arg(keys::in_state(queued));
        script.arg(BY_STATE).arg(keys::in_state(member.state.as_str()));
        script.arg(entry_arg(change.act.as_ref()));
        script.arg(optional(change.quota));
        let outcome = self.commit("save member", script).await?;
        saved(&outcome)
    }

    async fn remove_member(&self, removal: &MemberRemoval) -> Result<Saved> {
        const OP: &str = "remove member";
        let keys = [
            self.attempt(OP)?,
            self.keys.members(),
            self.keys.tokens(),
            self.keys.held_keys(),
            self.keys.challenges(),
            self.keys.members_index(),
        ];
        let mut script = self.call(&scripts::REMOVE_MEMBER, keys);
        script.arg(removal.id.as_str()).arg(removal.expected.0);
        script.arg(keys::member_slot(&removal.id)).arg(BY_STATE);
        rows::saved(OP, &self.commit(OP, script).await?)
    }

    /// Does not wait for replicas: after a failover, a lost challenge is simply requested again.
    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge> {
        let keys = [self.keys.reusable_challenges(), self.keys.challenges()];
        let mut script = self.call(&scripts::GIVE_CHALLENGE, keys);
        script.arg(offer.bucket.0).arg(keys::slot(&offer.slot));
        script.arg(codec::encode_challenge(&offer.fresh));
        let given = self.write("give challenge", script).await?;
        codec::decode_challenge(&given).context("give challenge")
    }
}

fn saved(outcome: &str) -> Result<MemberSaved> {
    const OP: &str = "save member";
    match (outcome, outcome.strip_prefix("held ")) {
        ("saved", _) => Ok(MemberSaved::Saved),
        ("stale", _) => Ok(MemberSaved::Stale),
        ("full", _) => Ok(MemberSaved::Full),
        (_, Some(holder)) => {
            let holder =
                MemberId::parse(holder).map_err(|invalid| StoreError::corrupt(OP, invalid))?;
            Ok(MemberSaved::KeyHeld(holder))
        }
        _ => Err(StoreError::corrupt(OP, format!("odd answer: {outcome}"))),
    }
}
