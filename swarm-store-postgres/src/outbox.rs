//! Implements [`Outbox`].

use async_trait::async_trait;
use swarm_core::domain::Message;
use swarm_core::store::records::Record as _;
use swarm_core::store::{MessageChange, MessageQuery, Outbox, Result, Saved, Versioned};

use crate::commit::{Change, Commit};
use crate::db::{limit, next, number, owned, saved, text, versioned};
use crate::failure::Outcome;
use crate::tenant::TenantStore;

#[async_trait]
impl Outbox for TenantStore {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        const ALL: &str = "SELECT version, record FROM swarm.messages
            WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
        const IN_STATE: &str = "SELECT version, record FROM swarm.messages
            WHERE tenant = $1 AND id > $2 AND state = $4 ORDER BY id LIMIT $3";
        let (after, most) = (number(query.after.map_or(0, |id| id.0)), limit(query.limit));
        match query.state {
            Some(state) => {
                self.all("messages", IN_STATE, &[after, most, text(state.as_str())], versioned)
                    .await
            }
            None => self.all("messages", ALL, &[after, most], versioned).await,
        }
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        self.commit("save message", change).await
    }
}

#[async_trait]
impl Change for MessageChange {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const SAVE: &str = "UPDATE swarm.messages SET version = $4, state = $5, record = $6
            WHERE tenant = $1 AND id = $2 AND version = $3";
        commit.time()?;
        let Self { message, expected } = self;
        let values = [
            number(message.id.0),
            number(expected.0),
            next(Some(*expected)),
            text(message.state.as_str()),
            owned(message.to_text()),
        ];
        Ok(saved(commit.run(SAVE, &values).await?))
    }
}

/// Writes a new message.
pub(crate) async fn queue(commit: &mut Commit<'_>, message: &Message) -> Outcome<()> {
    const QUEUE: &str = "INSERT INTO swarm.messages (tenant, id, version, state, record)
        VALUES ($1, $2, 1, $3, $4)";
    let (id, state) = (number(message.id.0), text(message.state.as_str()));
    commit.run(QUEUE, &[id, state, owned(message.to_text())]).await.map(drop)
}
