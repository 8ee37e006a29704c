//! Implements [`Counts`] by the state indexes.

use async_trait::async_trait;
use swarm_core::store::{Countable, Counts, Result, StoreError};

use crate::db::{number_of, text};
use crate::tenant::TenantStore;

#[async_trait]
impl Counts for TenantStore {
    async fn count(&self, what: Countable) -> Result<u64> {
        let (table, state) = match what {
            Countable::Members(state) => ("members", state.as_str()),
            Countable::Sessions(state) => ("sessions", state.as_str()),
            Countable::Messages(state) => ("messages", state.as_str()),
            other => return Err(StoreError::misconfigured("count", format!("unknown: {other:?}"))),
        };
        let sql = format!("SELECT count(*) FROM swarm.{table} WHERE tenant = $1 AND state = $2");
        let counted = self.one("count", &sql, &[text(state)], |row| number_of(row, 0)).await?;
        Ok(counted.unwrap_or(0))
    }
}
