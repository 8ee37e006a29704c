//! Two worlds that are told apart by their tenant alone.

use std::sync::Arc;

use crate::World;
use swarm_core::domain::TenantId;
use swarm_core::store::Tenants;

/// Two fresh worlds. A case puts like records under like ids, keys, tokens and nonces into both and
/// asks both, so that a method which forgets its tenant is wrong in one of them.
pub(super) async fn twins(tenants: Arc<dyn Tenants>) -> [World; 2] {
    let one = World::fresh(Arc::clone(&tenants)).await;
    let other = TenantId::parse(format!("{}-x", one.id)).unwrap();
    let other = World::open(tenants, other);
    [one, other]
}

/// Both, each with a mark of its own to put into what it holds.
pub(super) fn both(worlds: &[World; 2]) -> [(&World, &'static str); 2] {
    [(&worlds[0], "one"), (&worlds[1], "other")]
}
