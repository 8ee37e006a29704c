//! Counts of records, for monitoring.

use super::Records;
use super::tables::{deliveries, members, messages, sessions};
use crate::domain::{DeliveryState, MailState, MemberState, SessionState};
use crate::store::Result;
use crate::store::backend::{Query, Range};

/// Records of one kind in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Countable {
    /// Members.
    Members(MemberState),
    /// Sessions.
    Sessions(SessionState),
    /// Messages.
    Messages(MailState),
    /// Deliveries to webhooks.
    Deliveries(DeliveryState),
}

/// Counts of records. No guard depends on them, so a count may be slightly out of date.
impl Records {
    /// The number of these records.
    pub async fn count(&self, what: Countable) -> Result<u64> {
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
