//! Implements [`Counts`] by the state indexes.

use async_trait::async_trait;
use swarm_core::store::{Countable, Counts, Result, StoreError};

use crate::db::{number_of, text};
use crate::tenant::TenantStore;

#[async_trait]
impl Counts for TenantStore {
    async fn count(&self, what: Countable) -> Result<u64> {
        const MEMBERS: &str = "SELECT count(*) FROM swarm.members WHERE tenant = $1 AND state = $2";
        const SESSIONS: &str =
            "SELECT count(*) FROM swarm.sessions WHERE tenant = $1 AND state = $2";
        const MESSAGES: &str =
            "SELECT count(*) FROM swarm.messages WHERE tenant = $1 AND state = $2";
        let (sql, state) = match what {
            Countable::Members(state) => (MEMBERS, state.as_str()),
            Countable::Sessions(state) => (SESSIONS, state.as_str()),
            Countable::Messages(state) => (MESSAGES, state.as_str()),
            other => return Err(StoreError::misconfigured("count", format!("unknown: {other:?}"))),
        };
        let counted = self.one("count", sql, &[text(state)], |row| number_of(row, 0)).await?;
        Ok(counted.unwrap_or(0))
    }
}
