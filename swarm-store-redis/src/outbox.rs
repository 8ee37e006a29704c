//! Implements [`Outbox`].

use async_trait::async_trait;
use swarm_core::domain::{MailState, Message};
use swarm_core::store::{MessageChange, MessageQuery, Outbox, Result, Saved, Versioned};

use crate::codec::{self, Context};
use crate::keys::{self, BY_STATE};
use crate::rows::saved;
use crate::scripts;
use crate::tenant::TenantStore;

#[async_trait]
impl Outbox for TenantStore {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        let MessageQuery { state, after, limit } = *query;
        let keys = [self.keys.outbox(), self.keys.outbox_index()];
        let states = MailState::ALL.into_iter().filter(|it| state.is_none_or(|one| one == *it));
        let listings = states.map(|state| keys::in_state(state.as_str()));
        let after = after.map(|id| id.0);
        let rows = self.listed_after("messages", keys, listings, after, limit).await?;
        let mut messages = codec::decode_each(&rows, codec::decode_message).context("messages")?;
        // `limit` applies to each state.
        messages.sort_unstable_by_key(|message| message.record.id);
        messages.truncate(limit);
        Ok(messages)
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        let MessageChange { message, expected } = change;
        let keys = [self.attempt("save message")?, self.keys.outbox(), self.keys.outbox_index()];
        let mut script = self.call(&scripts::SAVE_MESSAGE, keys);
        script.arg(message.id.0).arg(expected.0);
        script.arg(codec::encode_message(expected.next(), message));
        script.arg(BY_STATE).arg(keys::in_state(message.state.as_str()));
        let outcome = self.commit("save message", script).await?;
        saved("save message", &outcome)
    }
}
