//! What a store must be for the cases of dump and restore.

use swarm_core::store::{CommitteeTenants, Tenants, Transfer};

/// A store with both interfaces whose tenants can be moved.
pub trait Moving: Tenants + CommitteeTenants + Transfer + 'static {}

impl<T: Tenants + CommitteeTenants + Transfer + 'static> Moving for T {}
