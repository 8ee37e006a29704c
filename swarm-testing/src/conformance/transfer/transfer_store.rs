//! The bound on stores for the cases of dump and restore.

use swarm_core::store::{CommitteeTenants, Tenants, Transfer};

/// A store with both interfaces that implements [`Transfer`].
pub trait TransferStore: Tenants + CommitteeTenants + Transfer + 'static {}

impl<T: Tenants + CommitteeTenants + Transfer + 'static> TransferStore for T {}
