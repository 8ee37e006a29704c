//! Where everything is kept.

use swarm_core::{CommitteeTenants, Committees, Swarm, SystemEntropy, Tenants};
use swarm_http::Services;
use swarm_store_memory::MemoryStore;
use swarm_store_redis::RedisStore;

use crate::Failure;
use crate::config::MEMORY;
use crate::failure::with_causes;

/// Both interfaces, on one store in memory.
pub(crate) fn in_memory() -> Services {
    on(MemoryStore::new())
}

/// What is kept at this address (contract, section 7).
pub(crate) async fn open(store: &str) -> Result<Services, Failure> {
    if store == MEMORY {
        return Ok(in_memory());
    }
    if !REDIS.iter().any(|scheme| store.starts_with(scheme)) {
        return Err(UNKNOWN.into());
    }
    RedisStore::connect(store).await.map(on).map_err(|error| with_causes("store", &error).into())
}

fn on(store: impl Tenants + CommitteeTenants + Clone + 'static) -> Services {
    let committees = Committees::new(store.clone(), SystemEntropy);
    (Swarm::new(store, SystemEntropy), committees).into()
}

/// What the addresses of Redis begin with.
const REDIS: [&str; 6] = [
    "redis://",
    "rediss://",
    "redis-cluster://",
    "rediss-cluster://",
    "redis-sentinel://",
    "rediss-sentinel://",
];

const UNKNOWN: &str =
    "store: must be memory, redis://…, rediss://…, redis-cluster://… or redis-sentinel://…";
