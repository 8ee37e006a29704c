//! A cache of movements: what the latest result of a subject changed, for the home page.
//!
//! A movement is computed from the quotes of two snapshots, which may be long and never change. So it is computed once for each
//! result, and cached.

use std::sync::Arc;

use quick_cache::sync::Cache;
use swarm_core::domain::{SessionState, SessionSummary};
use swarm_core::rules::{Movement, movement};
use swarm_core::store::SessionList;
use swarm_core::{Error, Refusal, Session, SessionId, Tenant, TenantId, Timestamp};

/// Maximum number of results that are kept.
const CAPACITY: usize = 1_000;

/// The movement of each result.
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
    /// Returns what changed in a subject with this published session; `None` unless the one before it that counts is
    /// published, too.
    pub(crate) async fn of(
        &self,
        tenant: &Tenant,
        session: &SessionSummary,
    ) -> Result<Option<Arc<Movement>>, Error> {
        let list = SessionList::About(session.subject_id.clone());
        let counts = |before: &SessionSummary| before.counts();
        let before = tenant.summaries_where(list, 1, Some(session.id), counts).await?;
        let before = before.sessions.into_iter().next();
        let before = before.filter(|before| before.state == SessionState::Published);
        let Some(before) = before else { return Ok(None) };
        let of =
            |session: &SessionSummary| Some((session.id, session.figures.as_ref()?.aggregated_at));
        let Some((before, after)) = of(&before).zip(of(session)) else { return Ok(None) };
        let results = Results { tenant: tenant.id().clone(), before, after };
        if let Some(known) = self.0.get(&results) {
            return Ok(Some(known));
        }
        let (before, after) = (record(tenant, before.0).await?, record(tenant, after.0).await?);
        let moved = before.zip(after).and_then(|(before, after)| movement(&before, &after));
        let moved = moved.map(Arc::new);
        if let Some(moved) = &moved {
            self.0.insert(results, Arc::clone(moved));
        }
        Ok(moved)
    }
}

/// A session, unless it was withdrawn since it was listed.
async fn record(tenant: &Tenant, id: SessionId) -> Result<Option<Arc<Session>>, Error> {
    match tenant.session_record(id).await {
        Ok(session) => Ok(Some(session)),
        Err(Error::Refused(Refusal::NotFound(_))) => Ok(None),
        Err(error) => Err(error),
    }
}
