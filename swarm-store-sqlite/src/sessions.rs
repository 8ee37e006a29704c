//! Implements [`Sessions`].

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{Session, SessionId, SessionSummary, Take, TakeId, Version};
use swarm_core::store::records::{Record, without_snapshot};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, DocumentDraft, Put, Result, Saved,
    SessionChange, SessionList, SessionQuery, SessionTakes, Sessions, SummaryQuery, TakeQuery,
    Takes as _, Versioned, try_aggregate,
};

use crate::failure::{Failure, Outcome};
use crate::tenant_rows::{
    TenantRows, Values, limit_arg, next, record, saved, signed, text, versioned,
};
use crate::{TenantStore, documents, log_rows, session_rows, takes};

/// How many times an aggregation is judged outside of its commit.
const MAX_ATTEMPTS_OUTSIDE: usize = 3;

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        self.read("session", move |world| session_rows::by_id(world, id)).await
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        let query = query.clone();
        self.read("sessions", move |world| matching(world, &query)).await
    }

    async fn session_summaries(&self, query: &SummaryQuery) -> Result<Vec<Arc<SessionSummary>>> {
        let query = query.clone();
        self.read("session summaries", move |world| summaries(world, &query)).await
    }

    async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>> {
        const LAST: &str = "SELECT summary FROM sessions
            WHERE tenant = ?1 AND published_at IS NOT NULL
            ORDER BY published_at DESC, id DESC LIMIT ?2";
        self.read("published", move |world| world.all(LAST, &[&limit_arg(limit)], record)).await
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        let convocation = convocation.clone();
        self.write("convene", move |world| convene(world, &convocation)).await
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        let (occasion, convocation) = (occasion.to_owned(), convocation.clone());
        self.write("convene once", move |world| convene_once(world, &occasion, &convocation)).await
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        let (change, text) = (change.clone(), change.session.to_text());
        self.write("save session", move |world| save(world, &change, &text)).await
    }

    /// Judges within the commit only if takes keep being filed while it judges outside: then no other commit can
    /// intervene. Most takes are read before it, to keep the transaction short.
    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        for _ in 0..MAX_ATTEMPTS_OUTSIDE {
            if let Some(aggregated) = try_aggregate(self, aggregation).await? {
                return Ok(aggregated);
            }
        }
        let all = TakeQuery::all(aggregation.session);
        let known = self.session_takes(&all).await?.map(|found| found.takes).unwrap_or_default();
        let aggregation = aggregation.clone();
        self.write("aggregate", move |world| aggregate(world, &aggregation, known)).await
    }
}

fn matching(world: &TenantRows<'_>, query: &SessionQuery) -> Outcome<Vec<Arc<Session>>> {
    let before = query.before.map_or(i64::MAX, |id| signed(id.0));
    let state = query.state.map(|state| state.as_str());
    let most = limit_arg(query.limit);
    let listed = |sql: &str, values: Values<'_>| match query.without_snapshots {
        true => short(world, sql, values),
        false => listed(world, sql, values),
    };
    match (&query.on, state) {
        // A day and subject has few sessions, so their state is filtered here.
        (Some((date, subject)), state) => listed(
            "SELECT version, record FROM sessions
             WHERE tenant = ?1 AND date = ?2 AND subject = ?3 AND id < ?4
                AND (?5 IS NULL OR +state = ?5)
             ORDER BY id DESC LIMIT ?6",
            &[&date.to_string(), &subject.as_str(), &before, &state, &most],
        ),
        (None, Some(state)) => listed(
            "SELECT version, record FROM sessions WHERE tenant = ?1 AND state = ?2 AND id < ?3
             ORDER BY id DESC LIMIT ?4",
            &[&state, &before, &most],
        ),
        (None, None) => listed(
            "SELECT version, record FROM sessions WHERE tenant = ?1 AND id < ?2
             ORDER BY id DESC LIMIT ?3",
            &[&before, &most],
        ),
    }
}

/// Sessions without their snapshots.
fn short(world: &TenantRows<'_>, sql: &str, values: Values<'_>) -> Outcome<Vec<Arc<Session>>> {
    world.all(sql, values, |row| {
        let record = text(row, 1)?;
        Ok(Arc::new(Session::from_text(&without_snapshot(record))?))
    })
}

fn listed(world: &TenantRows<'_>, sql: &str, values: Values<'_>) -> Outcome<Vec<Arc<Session>>> {
    let found = world.all(sql, values, versioned)?;
    Ok(found.into_iter().map(|session: Versioned<Session>| session.record).collect())
}

fn summaries(world: &TenantRows<'_>, query: &SummaryQuery) -> Outcome<Vec<Arc<SessionSummary>>> {
    let before = query.before.map_or(i64::MAX, |id| signed(id.0));
    let after = query.after.map_or(-1, |id| signed(id.0));
    let most = limit_arg(query.limit);
    let sql = summary_sql(query);
    match &query.list {
        SessionList::All => world.all(&sql, &[&after, &before, &most], record),
        SessionList::InState(state) => {
            world.all(&sql, &[&after, &before, &most, &state.as_str()], record)
        }
        SessionList::About(subject) => {
            world.all(&sql, &[&after, &before, &most, &subject.as_str()], record)
        }
    }
}

/// The index is named because the planner would read all sessions of the tenant, which are in order.
pub(crate) fn summary_sql(query: &SummaryQuery) -> String {
    let (index, listed) = match query.list {
        SessionList::All => ("", ""),
        SessionList::InState(_) => ("INDEXED BY sessions_by_state", "AND state = ?5"),
        SessionList::About(_) => ("INDEXED BY sessions_by_subject", "AND subject = ?5"),
    };
    let order = if query.after.is_some() { "ASC" } else { "DESC" };
    format!(
        "SELECT summary FROM sessions {index}
         WHERE tenant = ?1 AND id > ?2 AND id < ?3 {listed} ORDER BY id {order} LIMIT ?4"
    )
}

fn convene(world: &TenantRows<'_>, convocation: &Convocation) -> Outcome<Arc<Session>> {
    let Convocation { draft, act } = convocation;
    let id = world.next_id(session_rows::LAST_ID, &[])?;
    let session = draft.convened(SessionId(id), world.time_of_commit()?);
    session_rows::insert(world, &session)?;
    log_rows::append_minted(world, act, session.convened_at, id)?;
    Ok(Arc::new(session))
}

fn convene_once(
    world: &TenantRows<'_>,
    occasion: &str,
    convocation: &Convocation,
) -> Outcome<Option<Arc<Session>>> {
    let occasions = Collection::Occasions;
    if documents::named(world, occasions.as_str(), occasion)?.is_some() {
        return Ok(None);
    }
    let session = convene(world, convocation)?;
    match documents::put(world, occasions, &DocumentDraft::of_occasion(occasion, session.id))? {
        Put::Created(_) => Ok(Some(session)),
        _ => Err(Failure::corrupt("a document that appeared within a commit")),
    }
}

/// Aggregates a session. `takes` are all its takes up to some id; the rest are read here.
fn aggregate(
    world: &TenantRows<'_>,
    aggregation: &Aggregation,
    mut takes: Vec<Arc<Take>>,
) -> Outcome<Aggregated> {
    let after = takes.last().map_or(TakeId(0), |last| last.id);
    let rest = TakeQuery { after, ..TakeQuery::all(aggregation.session) };
    let (session, rest) = match takes::session_takes(world, &rest)? {
        Some(SessionTakes { session, takes }) => (Some(session), takes),
        None => (None, Vec::new()),
    };
    takes.extend(rest);
    let change = match aggregation.judge(session.as_ref(), &takes, world.time_of_commit()?) {
        Ok(change) => change,
        Err(refusal) => return Ok(Err(refusal)),
    };
    match save(world, &change, &change.session.to_text())? {
        Saved::Saved => Ok(Ok(Arc::new(change.session))),
        Saved::Stale => Err(Failure::corrupt("a session that changed within a commit")),
    }
}

fn save(world: &TenantRows<'_>, change: &SessionChange, text: &str) -> Outcome<Saved> {
    let SessionChange { session, expected, takes, none_filed_after, withdrawn, acts, opens } =
        change;
    if let Some(judged) = takes {
        const FILED: &str = "SELECT count(*) FROM takes WHERE tenant = ?1 AND session = ?2";
        let filed = world.number(FILED, &[&signed(session.id.0)])?;
        if filed != u64::try_from(*judged).ok() {
            return Ok(Saved::Stale);
        }
    }
    if let Some(end) = none_filed_after {
        const LATER: &str =
            "SELECT 1 FROM takes WHERE tenant = ?1 AND session = ?2 AND filed_at > ?3";
        if world.any(LATER, &[&signed(session.id.0), &end.millis()])? {
            return Ok(Saved::Stale);
        }
    }
    let changed = if *withdrawn {
        const REMOVE: &str = "DELETE FROM sessions WHERE tenant = ?1 AND id = ?2 AND version = ?3";
        world.run(REMOVE, &[&signed(session.id.0), &signed(expected.0)])
    } else {
        update(world, session, *expected, text)
    };
    let saved = saved(changed)?;
    if saved == Saved::Saved {
        let now = world.time_of_commit()?;
        acts.iter().try_for_each(|act| log_rows::append_act(world, act, now))?;
        if *opens {
            log_rows::append_openings(world, session.id, now)?;
        }
    }
    Ok(saved)
}

fn update(
    world: &TenantRows<'_>,
    session: &Session,
    expected: Version,
    text: &str,
) -> Outcome<usize> {
    world.run(
        "UPDATE sessions SET version = ?4, state = ?5, published_at = ?6, summary = ?7, record = ?8
         WHERE tenant = ?1 AND id = ?2 AND version = ?3",
        &[
            &signed(session.id.0),
            &signed(expected.0),
            &next(Some(expected)),
            &session.state.as_str(),
            &session.published_at.map(|moment| moment.millis()),
            &session.summary().to_text(),
            &text,
        ],
    )
}
