//! A cache of movements: what changed from one result of a subject to another, for the page of news.
//!
//! A movement is computed from the quotes of two snapshots, which may be long and never change. So it is computed once for each
//! two results, and cached.

use std::sync::Arc;

use quick_cache::sync::Cache;
use swarm_core::rules::{Movement, movement};
use swarm_core::service::ResultPoint;
use swarm_core::{Error, SessionId, Tenant, TenantId, Timestamp};

/// Maximum number of results that are kept.
const CAPACITY: usize = 1_000;

/// The movements between results.
pub(crate) struct MovementCache(Cache<Results, Arc<Movement>>);

/// Two results of a tenant: the sessions, and when they were aggregated. Another session with one of these ids, in a store
/// that lost records, has another time.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Results {
    tenant: TenantId,
    before: (SessionId, Timestamp),
    after: (SessionId, Timestamp),
}

impl Default for MovementCache {
    fn default() -> Self {
        Self(Cache::new(CAPACITY))
    }
}

impl MovementCache {
    /// Returns what changed from one result of a subject to a later one; `None` if one of the sessions is gone.
    pub(crate) async fn between(
        &self,
        tenant: &Tenant,
        before: &ResultPoint,
        after: &ResultPoint,
    ) -> Result<Option<Arc<Movement>>, Error> {
        let of = |point: &ResultPoint| (point.session, point.figures.aggregated_at);
        let (before, after) = (of(before), of(after));
        let results = Results { tenant: tenant.id().clone(), before, after };
        if let Some(known) = self.0.get(&results) {
            return Ok(Some(known));
        }
        // Either may have been withdrawn meanwhile.
        let before = Error::if_any(tenant.session_record(before.0).await)?;
        let after = Error::if_any(tenant.session_record(after.0).await)?;
        let moved = before.zip(after).and_then(|(before, after)| movement(&before, &after));
        let moved = moved.map(Arc::new);
        if let Some(moved) = &moved {
            self.0.insert(results, Arc::clone(moved));
        }
        Ok(moved)
    }
}
