//! Implements [`Outbox`].

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::domain::{Message, Version};
use swarm_core::store::records::Record as _;
use swarm_core::store::{MessageChange, MessageQuery, Outbox, Result, Saved, Versioned};

use crate::commit::Change;
use crate::db::{limit, number, signed, text, versioned};
use crate::tenant::TenantStore;

#[async_trait]
impl Outbox for TenantStore {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        let (in_state, state) = match query.state {
            Some(state) => ("AND state = $4", Some(text(state.as_str()))),
            None => ("", None),
        };
        let sql = format!(
            "SELECT version, record FROM swarm.messages
            WHERE tenant = $1 AND id > $2 {in_state} ORDER BY id LIMIT $3"
        );
        let page = [number(query.after.map_or(0, |id| id.0)), limit(query.limit)];
        let values: Vec<_> = page.into_iter().chain(state).collect();
        self.all("messages", &sql, &values, versioned).await
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        const SAVE: &str = include_str!("commits/save_message.sql");
        let mut args = row(&change.message, change.expected.next());
        args["expected"] = signed(change.expected.0).into();
        self.save(Change::new("save message", SAVE, args)).await
    }
}

/// The row of a message at this version.
pub(crate) fn row(message: &Message, version: Version) -> Value {
    json!({
        "id": signed(message.id.0),
        "version": signed(version.0),
        "state": message.state.as_str(),
        "record": message.to_text(),
    })
}
