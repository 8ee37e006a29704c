//! The part of the port that counts records, for monitoring.

use async_trait::async_trait;

use super::Result;
use crate::domain::{DeliveryState, MailState, MemberState, SessionState};

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
#[async_trait]
pub trait Counts: Send + Sync {
    /// The number of these records. A store should not read the records to count them.
    async fn count(&self, what: Countable) -> Result<u64>;
}
