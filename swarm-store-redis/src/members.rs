//! Members, their tokens, keys and challenges.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{Challenge, MailState, Member, MemberState, SecretHash};
use swarm_core::store::{MemberBasis, MemberChange, MemberSaved, Members, Result, Slot};
use swarm_core::{MemberId, StoreError};

use crate::codec::{self, Decoded};
use crate::keys::BY_STATE;
use crate::outbox::state_name;
use crate::rows::{guard, next};
use crate::{TenantStore, keys, scripts};

#[async_trait]
impl Members for TenantStore {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis> {
        let mut script = scripts::MEMBER.prepare_invoke();
        script.key(self.keys.members()).key(self.keys.challenges());
        script.arg(id.as_str()).arg(keys::member_slot(id));
        let rows: (Option<String>, Option<String>) = self.client.read("member", &script).await?;
        Ok(MemberBasis {
            member: codec::any(rows.0.as_ref(), codec::member).of("member")?,
            challenge: codec::any(rows.1.as_ref(), codec::challenge).of("member")?,
        })
    }

    async fn members(&self, states: &[MemberState]) -> Result<Vec<Arc<Member>>> {
        let mut script = scripts::MEMBERS.prepare_invoke();
        script.key(self.keys.members()).key(self.keys.members_index());
        for state in states {
            script.arg(keys::in_state(state.as_str()));
        }
        let rows: Vec<String> = self.client.read("members", &script).await?;
        codec::each(&rows, |row| Ok(codec::member(row)?.record)).of("members")
    }

    async fn bearer(&self, token: &SecretHash) -> Result<Option<Arc<Member>>> {
        let mut script = scripts::THROUGH.prepare_invoke();
        script.key(self.keys.tokens()).key(self.keys.members()).arg(codec::hash_text(token));
        let row: Option<String> = self.client.read("bearer", &script).await?;
        codec::any(row.as_ref(), |row| Ok(codec::member(row)?.record)).of("bearer")
    }

    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved> {
        let member = &change.member;
        let challenge = change.proven.as_ref().map(|proven| codec::hash_text(&proven.0));
        let queued = state_name(MailState::Queued);

        let mut script = scripts::SAVE_MEMBER.prepare_invoke();
        script.key(self.attempt("save member")?);
        script.key(self.keys.members()).key(self.keys.tokens()).key(self.keys.held_keys());
        script.key(self.keys.challenges()).key(self.keys.members_index());
        script.key(self.keys.outbox()).key(self.keys.outbox_index()).key(self.keys.counters());
        script.arg(member.id.as_str()).arg(guard(change.expected));
        script.arg(codec::member_row(next(change.expected), member));
        script.arg(codec::token(member).unwrap_or_default());
        script.arg(change.held_key().map(ToString::to_string).unwrap_or_default());
        script.arg(keys::member_slot(&member.id)).arg(challenge.unwrap_or_default());
        script.arg(change.mail.as_ref().map(codec::mail_text).unwrap_or_default());
        script.arg(queued).arg(keys::in_state(queued));
        script.arg(BY_STATE).arg(keys::in_state(member.state.as_str()));
        let outcome: String = self.client.commit("save member", &script, &self.keys).await?;
        saved(&outcome)
    }

    /// Waits for no replica: a challenge that is lost with its server is asked for again.
    async fn set_challenge(&self, slot: &Slot, challenge: &Challenge) -> Result<()> {
        let set = redis::cmd("HSET")
            .arg(self.keys.challenges())
            .arg(keys::slot(slot))
            .arg(codec::challenge_text(challenge))
            .to_owned();
        self.client.query("set challenge", &set).await
    }
}

fn saved(outcome: &str) -> Result<MemberSaved> {
    const OP: &str = "save member";
    match (outcome, outcome.strip_prefix("held ")) {
        ("saved", _) => Ok(MemberSaved::Saved),
        ("stale", _) => Ok(MemberSaved::Stale),
        (_, Some(holder)) => {
            let holder =
                MemberId::parse(holder).map_err(|invalid| StoreError::corrupt(OP, invalid))?;
            Ok(MemberSaved::KeyHeld(holder))
        }
        _ => Err(StoreError::corrupt(OP, format!("odd answer: {outcome}"))),
    }
}
