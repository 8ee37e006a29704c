//! Counts of records.

use async_trait::async_trait;
use swarm_core::store::{Countable, Counts, Result};

use crate::TenantStore;

#[async_trait]
impl Counts for TenantStore {
    async fn count(&self, what: Countable) -> Result<u64> {
        let count = self.read(|tenant| match what {
            Countable::Members(state) => {
                tenant.members.values().filter(|row| row.member.record.state == state).count()
            }
            Countable::Sessions(state) => tenant.sessions.count(state),
            Countable::Messages(state) => {
                tenant.outbox.iter().filter(|message| message.record.state == state).count()
            }
            _ => 0,
        });
        Ok(count as u64)
    }
}
