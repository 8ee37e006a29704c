//! Implements [`Sessions`].

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{Session, SessionId, Take, TakeId};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, DocumentDraft, Put, Result, Saved,
    SessionChange, SessionQuery, SessionTakes, Sessions, TakeQuery, Takes as _, Versioned,
};

use crate::commit::{Change, Commit, Kind};
use crate::db::{Arg, limit, maybe_text, moment, next, number, owned, saved, signed, text};
use crate::documents::{self, PutDocument};
use crate::failure::{Failure, Outcome};
use crate::session_rows::{session, split};
use crate::takes;
use crate::tenant::TenantStore;

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        const BY_ID: &str = "SELECT version, record, snapshot FROM swarm.sessions
            WHERE tenant = $1 AND id = $2";
        self.one("session", BY_ID, &[number(id.0)], session).await
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        const ON: &str =
            "SELECT version, record, CASE WHEN $4 THEN snapshot END FROM swarm.sessions
            WHERE tenant = $1 AND id < $2 AND date = $5 AND subject = $6
                AND ($7::text IS NULL OR state = $7)
            ORDER BY id DESC LIMIT $3";
        const IN_STATE: &str =
            "SELECT version, record, CASE WHEN $4 THEN snapshot END FROM swarm.sessions
            WHERE tenant = $1 AND id < $2 AND state = $5 ORDER BY id DESC LIMIT $3";
        const ALL: &str =
            "SELECT version, record, CASE WHEN $4 THEN snapshot END FROM swarm.sessions
            WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
        let before = query.before.map_or(i64::MAX, |id| signed(id.0));
        let (before, most) = (Arg::Number(before), limit(query.limit));
        let whole = Arg::Truth(!query.without_snapshots);
        let state = query.state.map(|state| state.as_str());
        let found = match (&query.on, state) {
            (Some((date, subject)), state) => {
                let (date, subject) = (owned(date.to_string()), text(subject.as_str()));
                let values = [before, most, whole, date, subject, maybe_text(state)];
                self.all("sessions", ON, &values, session).await
            }
            (None, Some(state)) => {
                let values = [before, most, whole, text(state)];
                self.all("sessions", IN_STATE, &values, session).await
            }
            (None, None) => self.all("sessions", ALL, &[before, most, whole], session).await,
        };
        Ok(found?.into_iter().map(|session| session.record).collect())
    }

    async fn published(&self, most: usize) -> Result<Vec<Arc<Session>>> {
        const LAST: &str = "SELECT version, record, snapshot FROM swarm.sessions
            WHERE tenant = $1 AND published_at IS NOT NULL
            ORDER BY published_at DESC, id DESC LIMIT $2";
        let found = self.all("published", LAST, &[limit(most)], session).await?;
        Ok(found.into_iter().map(|session| session.record).collect())
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        self.commit("convene", convocation).await
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        self.commit("convene once", &ConveneOnce { occasion, convocation }).await
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        self.commit("save session", change).await
    }

    /// Judges within the commit, so no other commit can intervene. Most takes are read before it, to keep
    /// the transaction short.
    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        let all = TakeQuery::all(aggregation.session);
        let known = self.session_takes(&all).await?.map(|found| found.takes).unwrap_or_default();
        self.commit("aggregate", &Aggregate { aggregation, known }).await
    }
}

#[async_trait]
impl Change for Convocation {
    type Made = Arc<Session>;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Arc<Session>> {
        const CONVENE: &str = "INSERT INTO swarm.sessions
                (tenant, id, version, date, subject, state, record, snapshot)
            VALUES ($1, $2, 1, $3, $4, $5, $6, $7)";
        let now = commit.time()?;
        let id = commit.next_id(Kind::Session);
        let session = self.draft.convened(SessionId(id), now);
        let (record, snapshot) = split(&session);
        let values = [
            number(id),
            owned(session.date.to_string()),
            text(session.subject_id.as_str()),
            text(session.state.as_str()),
            owned(record),
            maybe_text(snapshot.as_deref()),
        ];
        commit.run(CONVENE, &values).await?;
        commit.append(&self.act, now, id).await?;
        Ok(Arc::new(session))
    }
}

struct ConveneOnce<'a> {
    occasion: &'a str,
    convocation: &'a Convocation,
}

#[async_trait]
impl Change for ConveneOnce<'_> {
    type Made = Option<Arc<Session>>;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Option<Arc<Session>>> {
        let collection = Collection::Occasions;
        if documents::named(&commit.db(), collection, self.occasion).await?.is_some() {
            return Ok(None);
        }
        let session = self.convocation.make(commit).await?;
        let draft = DocumentDraft::of_occasion(self.occasion, session.id);
        match (PutDocument { collection, draft: &draft }).make(commit).await? {
            Put::Created(_) => Ok(Some(session)),
            _ => Err(Failure::corrupt("a document that appeared within a commit")),
        }
    }
}

#[async_trait]
impl Change for SessionChange {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const FILED: &str = "SELECT count(*) FROM swarm.takes WHERE tenant = $1 AND session = $2";
        const LATER: &str = "SELECT 1 FROM swarm.takes
            WHERE tenant = $1 AND session = $2 AND filed_at > $3 LIMIT 1";
        const SAVE: &str = "UPDATE swarm.sessions
            SET version = $4, state = $5, published_at = $6, record = $7, snapshot = $8
            WHERE tenant = $1 AND id = $2 AND version = $3";
        const REMOVE: &str =
            "DELETE FROM swarm.sessions WHERE tenant = $1 AND id = $2 AND version = $3";
        let Self { session, expected, takes, none_filed_after, withdrawn, act } = self;
        let (db, now) = (commit.db(), commit.time()?);
        let id = || number(session.id.0);
        if let Some(judged) = takes {
            let filed = db.number(FILED, &[id()]).await?;
            if filed != u64::try_from(*judged).ok() {
                return Ok(Saved::Stale);
            }
        }
        if let Some(end) = none_filed_after
            && db.any(LATER, &[id(), moment(*end)]).await?
        {
            return Ok(Saved::Stale);
        }
        let (record, snapshot) = split(session);
        let values = [
            id(),
            number(expected.0),
            next(Some(*expected)),
            text(session.state.as_str()),
            Arg::MaybeNumber(session.published_at.map(|at| at.millis())),
            owned(record),
            maybe_text(snapshot.as_deref()),
        ];
        let changed = match withdrawn {
            true => commit.run(REMOVE, &[id(), number(expected.0)]).await?,
            false => commit.run(SAVE, &values).await?,
        };
        let saved = saved(changed);
        if saved == Saved::Saved {
            commit.append(act, now, 0).await?;
        }
        Ok(saved)
    }
}

/// The aggregation of a session. `known` are all its takes up to some id; the rest are read in the commit.
struct Aggregate<'a> {
    aggregation: &'a Aggregation,
    known: Vec<Arc<Take>>,
}

#[async_trait]
impl Change for Aggregate<'_> {
    type Made = Aggregated;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Aggregated> {
        let after = self.known.last().map_or(TakeId(0), |last| last.id);
        let rest = TakeQuery { after, ..TakeQuery::all(self.aggregation.session) };
        let (session, rest) = match takes::session_takes(&commit.db(), &rest).await? {
            Some(SessionTakes { session, takes }) => (Some(session), takes),
            None => (None, Vec::new()),
        };
        let takes = [&self.known[..], &rest].concat();
        let change = match self.aggregation.judge(session.as_ref(), &takes, commit.time()?) {
            Ok(change) => change,
            Err(refusal) => return Ok(Err(refusal)),
        };
        match change.make(commit).await? {
            Saved::Saved => Ok(Ok(Arc::new(change.session))),
            Saved::Stale => Err(Failure::corrupt("a session that changed within a commit")),
        }
    }
}
