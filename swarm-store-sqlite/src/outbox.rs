//! Implements [`Outbox`].

use async_trait::async_trait;
use swarm_core::domain::Message;
use swarm_core::store::records::Record;
use swarm_core::store::{MessageChange, MessageQuery, Outbox, Result, Saved, Versioned};

use crate::TenantStore;
use crate::failure::Outcome;
use crate::tenant_rows::{TenantRows, limit_arg, next, saved, signed, versioned};

#[async_trait]
impl Outbox for TenantStore {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        let query = *query;
        self.read("messages", move |world| matching(world, &query)).await
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        let (change, text) = (change.clone(), change.message.to_text());
        self.write("save message", move |world| save(world, &change, &text)).await
    }
}

/// Writes a new message.
pub(crate) fn queue(world: &TenantRows<'_>, message: &Message) -> Outcome<()> {
    world.run(
        "INSERT INTO messages (tenant, id, version, state, record) VALUES (?1, ?2, 1, ?3, ?4)",
        &[&signed(message.id.0), &message.state.as_str(), &message.to_text()],
    )?;
    Ok(())
}

fn matching(world: &TenantRows<'_>, query: &MessageQuery) -> Outcome<Vec<Versioned<Message>>> {
    const ALL: &str = "SELECT version, record FROM messages
        WHERE tenant = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
    const IN_STATE: &str = "SELECT version, record FROM messages
        WHERE tenant = ?1 AND id > ?2 AND state = ?4 ORDER BY id LIMIT ?3";
    let (after, limit) = (query.after.map_or(0, |id| signed(id.0)), limit_arg(query.limit));
    match query.state {
        Some(state) => world.all(IN_STATE, &[&after, &limit, &state.as_str()], versioned),
        None => world.all(ALL, &[&after, &limit], versioned),
    }
}

fn save(world: &TenantRows<'_>, change: &MessageChange, text: &str) -> Outcome<Saved> {
    let MessageChange { message, expected } = change;
    saved(world.run(
        "UPDATE messages SET version = ?4, state = ?5, record = ?6
         WHERE tenant = ?1 AND id = ?2 AND version = ?3",
        &[
            &signed(message.id.0),
            &signed(expected.0),
            &next(Some(*expected)),
            &message.state.as_str(),
            &text,
        ],
    ))
}
