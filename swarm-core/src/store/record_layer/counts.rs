//! Counts of records, for monitoring.

use async_trait::async_trait;

use super::TenantRecords;
use super::tables::{deliveries, members, messages, sessions};
use crate::store::backend::{Backend, Query, Range};
use crate::store::{Countable, Counts, Result};

#[async_trait]
impl<B: Backend> Counts for TenantRecords<B> {
    async fn count(&self, what: Countable) -> Result<u64> {
        let (table, index, state) = match what {
            Countable::Members(state) => (&members::TABLE, members::BY_STATE, state.as_str()),
            Countable::Sessions(state) => (&sessions::TABLE, sessions::BY_STATE, state.as_str()),
            Countable::Messages(state) => (&messages::TABLE, messages::BY_STATE, state.as_str()),
            Countable::Deliveries(state) => {
                (&deliveries::TABLE, deliveries::BY_STATE, state.as_str())
            }
        };
        let range = Range::index(table, index, vec![state.into()]);
        Ok(self.read("count", vec![Query::Count(range)]).await?.number())
    }
}
