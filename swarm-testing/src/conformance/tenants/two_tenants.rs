//! Two tenants with the same records.

use std::sync::Arc;

use crate::World;
use swarm_core::domain::TenantId;
use swarm_core::store::Tenants;

/// Two new tenants. A case stores records with the same ids, keys, tokens and nonces in both and
/// reads both, so a method that ignores its tenant fails in one of them.
pub(super) async fn two_tenants(tenants: Arc<dyn Tenants>) -> [World; 2] {
    let one = World::fresh(Arc::clone(&tenants)).await;
    let other = TenantId::parse(format!("{}-x", one.id)).unwrap();
    let other = World::open(tenants, other);
    [one, other]
}

/// Both tenants, each with a distinct text to put into its records.
pub(super) fn both(worlds: &[World; 2]) -> [(&World, &'static str); 2] {
    [(&worlds[0], "one"), (&worlds[1], "other")]
}
