//! The change feed of a store, for background work.

use super::{Result, async_trait};
use crate::domain::{TenantId, Timestamp};

/// A store that reports in one call which of its tenants have changed, so that background work need
/// not poll each tenant. Implementing it is optional.
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// The changes by any process since the last call. A feed serves a single caller. A store that
    /// is opened twice has two feeds.
    async fn changes(&self) -> Result<Changes>;
}

/// The changes since the last call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The time by the store's clock. If its tenants have different clocks, by one of them.
    pub now: Timestamp,
    /// The tenants with commits, and possibly others. `None` means that any tenant may have
    /// changed.
    pub tenants: Option<Vec<TenantId>>,
}
