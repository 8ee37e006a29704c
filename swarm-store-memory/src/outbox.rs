//! The outbox.

use async_trait::async_trait;
use swarm_core::domain::Message;
use swarm_core::store::{MessageChange, MessageQuery, Outbox, Result, Saved, Versioned};

use crate::TenantStore;
use crate::tenant_records::{TenantRecords, next};

#[async_trait]
impl Outbox for TenantStore {
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Versioned<Message>>> {
        let MessageQuery { state, after, limit } = *query;
        Ok(self.read(|tenant| {
            let asked = |message: &&Versioned<Message>| {
                state.is_none_or(|state| message.record.state == state)
                    && after.is_none_or(|after| message.record.id > after)
            };
            tenant.outbox.iter().filter(asked).take(limit).cloned().collect()
        }))
    }

    async fn save_message(&self, change: &MessageChange) -> Result<Saved> {
        self.commit(|tenant, _| save(tenant, change))
    }
}

fn save(tenant: &mut TenantRecords, change: &MessageChange) -> Saved {
    let place = usize::try_from(change.message.id.0).ok().and_then(|id| id.checked_sub(1));
    let Some(message) = place.and_then(|place| tenant.outbox.get_mut(place)) else {
        return Saved::Stale;
    };
    if message.version != change.expected {
        return Saved::Stale;
    }
    *message = next(message.version, change.message.clone());
    Saved::Saved
}
