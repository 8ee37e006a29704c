//! What has changed in a store, for work that is done again and again.

use super::{Result, async_trait};
use crate::domain::{TenantId, Timestamp};

/// A store that tells in one call which of its tenants have changed, so that work in the background
/// need not ask each of them all the time. A store need not be one.
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// What has changed, by this process or any other, since the feed was asked last. A feed is asked
    /// by one caller alone, and a store that is opened twice has two.
    async fn changes(&self) -> Result<Changes>;
}

/// What has changed in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The time of the store; where its tenants have several clocks, of one of them.
    pub now: Timestamp,
    /// The tenants with a commit, and perhaps others; none where it can be any tenant.
    pub tenants: Option<Vec<TenantId>>,
}
