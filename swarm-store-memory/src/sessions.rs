//! Sessions.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{Session, SessionId, SessionSummary, Take};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, DocumentDraft, Put, Result, Saved,
    SessionChange, SessionList, SessionQuery, Sessions, SummaryQuery, Versioned, try_aggregate,
};

use crate::TenantStore;
use crate::documents;
use crate::session_table::SessionRow;
use crate::tenant_records::{TenantRecords, first, next};

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        Ok(self.read(|tenant| tenant.sessions.get(id).map(|row| row.session.clone())))
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        Ok(self.read(|tenant| match &query.on {
            Some((date, subject)) => {
                let ids = tenant.days.get(date).and_then(|subjects| subjects.get(subject));
                let ids = ids.into_iter().flatten().rev();
                matching(ids.filter_map(|id| tenant.sessions.get(*id)), query)
            }
            None => {
                let list = query.state.map_or(SessionList::All, SessionList::InState);
                matching(tenant.sessions.listed(&list, None, query.before).rev(), query)
            }
        }))
    }

    async fn session_summaries(&self, query: &SummaryQuery) -> Result<Vec<Arc<SessionSummary>>> {
        let SummaryQuery { list, before, after, limit } = query;
        Ok(self.read(|tenant| {
            let rows = tenant.sessions.listed(list, *after, *before);
            let summary = |row: &SessionRow| Arc::clone(&row.summary);
            match after {
                Some(_) => rows.take(*limit).map(summary).collect(),
                None => rows.rev().take(*limit).map(summary).collect(),
            }
        }))
    }

    async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>> {
        Ok(self.read(|tenant| {
            let rows = tenant.sessions.published().take(limit);
            rows.map(|row| Arc::clone(&row.summary)).collect()
        }))
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        self.commit(|tenant, now| convene(tenant, convocation, now))
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        self.commit(|tenant, now| convene_once(tenant, occasion, convocation, now))
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        self.commit(|tenant, now| save(tenant, change, now))
    }

    /// Judges under the lock of commits only if takes were filed while it judged outside.
    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        if let Some(aggregated) = try_aggregate(self, aggregation).await? {
            return Ok(aggregated);
        }
        self.commit(|tenant, now| aggregate(tenant, aggregation, now))
    }
}

fn matching<'a>(
    rows: impl Iterator<Item = &'a SessionRow>,
    query: &SessionQuery,
) -> Vec<Arc<Session>> {
    rows.map(|row| &row.session.record)
        .filter(|session| query.state.is_none_or(|state| session.state == state))
        .filter(|session| query.before.is_none_or(|before| session.id < before))
        .take(query.limit)
        .map(|session| shown(session, query))
        .collect()
}

fn shown(session: &Arc<Session>, query: &SessionQuery) -> Arc<Session> {
    if query.without_snapshots && session.snapshot.is_some() {
        return Arc::new(Session { snapshot: None, ..Session::clone(session) });
    }
    Arc::clone(session)
}

fn convene(tenant: &mut TenantRecords, convocation: &Convocation, now: Timestamp) -> Arc<Session> {
    let Convocation { draft, act } = convocation;
    let id = SessionId(tenant.last_session().0.saturating_add(1));
    let session = first(draft.convened(id, now));
    let convened = Arc::clone(&session.record);
    let subjects = tenant.days.entry(draft.date).or_default();
    subjects.entry(draft.subject_id.clone()).or_default().push(id);
    tenant.sessions.write(session);
    tenant.log.minted(act, now, id.0);
    convened
}

fn convene_once(
    tenant: &mut TenantRecords,
    occasion: &str,
    convocation: &Convocation,
    now: Timestamp,
) -> Option<Arc<Session>> {
    let occasions = tenant.documents.entry(Collection::Occasions).or_default();
    if occasions.keys.contains_key(occasion) {
        return None;
    }
    let session = convene(tenant, convocation, now);
    let claim = DocumentDraft::of_occasion(occasion, session.id);
    let put = documents::put(tenant, Collection::Occasions, &claim, now);
    matches!(put, Put::Created(_)).then_some(session)
}

fn save(tenant: &mut TenantRecords, change: &SessionChange, now: Timestamp) -> Saved {
    let id = change.session.id;
    let Some(row) = tenant.sessions.get(id) else { return Saved::Stale };
    let mut takes = row.takes.iter().filter_map(|id| tenant.take(*id));
    let is_late = |end: Timestamp| takes.any(|take| take.filed_at > end);
    if row.session.version != change.expected
        || change.takes.is_some_and(|takes| takes != row.takes.len())
        || change.none_filed_after.is_some_and(is_late)
    {
        return Saved::Stale;
    }
    if change.withdrawn {
        remove(tenant, change, now);
    } else {
        write(tenant, change, now);
    }
    Saved::Saved
}

fn remove(tenant: &mut TenantRecords, change: &SessionChange, now: Timestamp) {
    let Session { id, date, subject_id, .. } = &change.session;
    tenant.sessions.remove(*id);
    let ids = tenant.days.get_mut(date).and_then(|subjects| subjects.get_mut(subject_id));
    ids.into_iter().for_each(|ids| ids.retain(|other| other != id));
    append_acts(tenant, change, now);
}

fn aggregate(tenant: &mut TenantRecords, aggregation: &Aggregation, now: Timestamp) -> Aggregated {
    let row = tenant.sessions.get(aggregation.session);
    let takes = takes_of(tenant, row);
    let change = aggregation.judge(row.map(|row| &row.session), &takes, now)?;
    Ok(write(tenant, &change, now))
}

/// Writes a session that exists.
fn write(tenant: &mut TenantRecords, change: &SessionChange, now: Timestamp) -> Arc<Session> {
    let saved = next(change.expected, change.session.clone());
    let session = Arc::clone(&saved.record);
    tenant.sessions.write(saved);
    append_acts(tenant, change, now);
    session
}

fn append_acts(tenant: &mut TenantRecords, change: &SessionChange, now: Timestamp) {
    for act in &change.acts {
        tenant.log.act(act, now);
    }
    if change.opens {
        let takes = takes_of(tenant, tenant.sessions.get(change.session.id));
        tenant.log.openings(takes, now);
    }
}

/// The takes of a session, by id.
fn takes_of(tenant: &TenantRecords, session: Option<&SessionRow>) -> Vec<Arc<Take>> {
    let ids = session.map(|row| row.takes.as_slice()).unwrap_or_default();
    ids.iter().filter_map(|id| tenant.take(*id).map(Arc::clone)).collect()
}
