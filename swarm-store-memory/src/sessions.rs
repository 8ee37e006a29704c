//! Sessions.

use std::cmp::Reverse;
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::{Session, SessionId};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, DocumentDraft, Put, Result, Saved,
    SessionChange, SessionQuery, Sessions, Versioned,
};

use crate::TenantStore;
use crate::documents;
use crate::world::{SessionRow, World, first, next};

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        Ok(self.read(|world| world.sessions.get(&id).map(|row| row.session.clone())))
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        Ok(self.read(|world| match &query.on {
            Some((date, subject)) => {
                let ids = world.days.get(date).and_then(|subjects| subjects.get(subject));
                let ids = ids.into_iter().flatten().rev();
                matching(ids.filter_map(|id| world.sessions.get(id)), query)
            }
            None => {
                let end = query.before.unwrap_or(SessionId(u64::MAX));
                matching(world.sessions.range(..end).rev().map(|(_, row)| row), query)
            }
        }))
    }

    async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>> {
        Ok(self.read(|world| {
            let sessions = world.sessions.values().map(|row| &row.session.record);
            let mut published: Vec<_> = sessions.filter(|it| it.published_at.is_some()).collect();
            published.sort_by_key(|session| Reverse((session.published_at, session.id)));
            published.into_iter().take(limit).map(Arc::clone).collect()
        }))
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        self.commit(|world, now| convene(world, convocation, now))
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        self.commit(|world, now| convene_once(world, occasion, convocation, now))
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        self.commit(|world, now| save(world, change, now))
    }

    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        self.commit(|world, now| aggregate(world, aggregation, now))
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

fn convene(world: &mut World, convocation: &Convocation, now: Timestamp) -> Arc<Session> {
    let Convocation { draft, act } = convocation;
    let id = SessionId(world.last_session().0.saturating_add(1));
    let session = first(draft.convened(id, now));
    let convened = Arc::clone(&session.record);
    let subjects = world.days.entry(draft.date).or_default();
    subjects.entry(draft.subject_id.clone()).or_default().push(id);
    world.sessions.insert(id, SessionRow::new(session));
    world.log.minted(act, now, id.0);
    convened
}

fn convene_once(
    world: &mut World,
    occasion: &str,
    convocation: &Convocation,
    now: Timestamp,
) -> Option<Arc<Session>> {
    let occasions = world.documents.entry(Collection::Occasions).or_default();
    if occasions.keys.contains_key(occasion) {
        return None;
    }
    let session = convene(world, convocation, now);
    let claim = DocumentDraft::of_occasion(occasion, session.id);
    let put = documents::put(world, Collection::Occasions, &claim, now);
    matches!(put, Put::Created(_)).then_some(session)
}

fn save(world: &mut World, change: &SessionChange, now: Timestamp) -> Saved {
    let id = change.session.id;
    let Some(row) = world.sessions.get(&id) else { return Saved::Stale };
    let mut takes = row.takes.iter().filter_map(|id| world.take(*id));
    let is_late = |end: Timestamp| takes.any(|take| take.filed_at > end);
    if row.session.version != change.expected
        || change.takes.is_some_and(|takes| takes != row.takes.len())
        || change.none_filed_after.is_some_and(is_late)
    {
        return Saved::Stale;
    }
    if change.withdrawn {
        remove(world, change, now);
    } else {
        write(world, change, now);
    }
    Saved::Saved
}

fn remove(world: &mut World, change: &SessionChange, now: Timestamp) {
    let Session { id, date, subject_id, .. } = &change.session;
    world.sessions.remove(id);
    let ids = world.days.get_mut(date).and_then(|subjects| subjects.get_mut(subject_id));
    ids.into_iter().for_each(|ids| ids.retain(|other| other != id));
    world.log.act(&change.act, now);
}

fn aggregate(world: &mut World, aggregation: &Aggregation, now: Timestamp) -> Aggregated {
    let row = world.sessions.get(&aggregation.session);
    let ids = row.map(|row| row.takes.as_slice()).unwrap_or_default().iter();
    let takes: Vec<_> = ids.filter_map(|id| world.take(*id).map(Arc::clone)).collect();
    let change = aggregation.judge(row.map(|row| &row.session), &takes, now)?;
    Ok(write(world, &change, now))
}

/// Writes a session that exists.
fn write(world: &mut World, change: &SessionChange, now: Timestamp) -> Arc<Session> {
    let saved = next(change.expected, change.session.clone());
    let session = Arc::clone(&saved.record);
    world.sessions.entry(session.id).and_modify(|row| row.write(saved));
    world.log.act(&change.act, now);
    session
}
