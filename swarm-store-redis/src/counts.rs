//! Implements [`Counts`] by the state indexes.

use async_trait::async_trait;
use swarm_core::store::{Countable, Counts, Result, StoreError};

use crate::keys;
use crate::tenant::TenantStore;

#[async_trait]
impl Counts for TenantStore {
    async fn count(&self, what: Countable) -> Result<u64> {
        const OP: &str = "count";
        let (index, state) = match what {
            Countable::Members(state) => (self.keys.members_index(), state.as_str()),
            Countable::Sessions(state) => (self.keys.sessions_index(), state.as_str()),
            Countable::Messages(state) => (self.keys.outbox_index(), state.as_str()),
            other => return Err(StoreError::misconfigured(OP, format!("unknown: {other:?}"))),
        };
        let listing = keys::in_state(state);
        // No byte of UTF-8 is 255: this sorts after every entry of the listing.
        let end = [b"(", listing.as_bytes(), b"\xff"].concat();
        let mut count = redis::cmd("ZLEXCOUNT");
        count.arg(index).arg(format!("[{listing}")).arg(end);
        self.query(OP, &count).await
    }
}
