//! Implements [`Sessions`].

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::domain::{Session, SessionId, SessionSummary, Timestamp, Version};
use swarm_core::store::records::{BEFORE_ROSTER, MAX_SUMMARY_PART};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, HoldTakes, MAX_HOLD_MILLIS, Result, Saved,
    SessionChange, SessionList, SessionQuery, Sessions, SummaryQuery, Versioned,
    aggregate_holding_takes,
};

use crate::commit::{Change, new_attempt, to_complete};
use crate::db::{Arg, any, bytes, limit, maybe_text, number, owned, signed, text};
use crate::failure::Failure;
use crate::session_rows::{self, session, summary};
use crate::tenant::TenantStore;

/// The columns of [`summary`].
const SUMMARY: &str = "SELECT left(record, $2::int),
    left(swarm.snapshot_1(tenant, id), $2::int), strpos(record, $3) > 0, published_at
    FROM swarm.sessions";

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        const BY_ID: &str =
            "SELECT version, record, swarm.snapshot_1(tenant, id) FROM swarm.sessions
            WHERE tenant = $1 AND id = $2";
        self.one("session", BY_ID, &[number(id.0)], session).await
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        let state = query.state.map(|state| state.as_str());
        let (listed, list) = match (&query.on, state) {
            (Some((date, subject)), state) => (
                "AND date = $5 AND subject = $6 AND ($7::text IS NULL OR state = $7)",
                vec![owned(date.to_string()), text(subject.as_str()), maybe_text(state)],
            ),
            (None, Some(state)) => ("AND state = $5", vec![text(state)]),
            (None, None) => ("", Vec::new()),
        };
        let sql = format!(
            "SELECT version, record, CASE WHEN $4 THEN swarm.snapshot_1(tenant, id) END
            FROM swarm.sessions WHERE tenant = $1 AND id < $2 {listed} ORDER BY id DESC LIMIT $3"
        );
        let before = Arg::Number(query.before.map_or(i64::MAX, |id| signed(id.0)));
        let page = [before, limit(query.limit), Arg::Truth(!query.without_snapshots)];
        let values: Vec<_> = page.into_iter().chain(list).collect();
        let found = self.all("sessions", &sql, &values, session).await;
        Ok(found?.into_iter().map(|session| session.record).collect())
    }

    async fn session_summaries(&self, query: &SummaryQuery) -> Result<Vec<Arc<SessionSummary>>> {
        const OP: &str = "session summaries";
        let (listed, list) = match &query.list {
            SessionList::All => ("", None),
            SessionList::InState(state) => ("AND state = $7", Some(text(state.as_str()))),
            SessionList::About(subject) => ("AND subject = $7", Some(text(subject.as_str()))),
        };
        let order = if query.after.is_some() { "ASC" } else { "DESC" };
        let sql = format!(
            "{SUMMARY} WHERE tenant = $1 AND id > $5 AND id < $6 {listed} ORDER BY id {order} LIMIT $4"
        );
        let range = [
            Arg::Number(query.after.map_or(-1, |id| signed(id.0))),
            Arg::Number(query.before.map_or(i64::MAX, |id| signed(id.0))),
        ];
        let parts = [limit(MAX_SUMMARY_PART), text(BEFORE_ROSTER), limit(query.limit)];
        let values: Vec<_> = parts.into_iter().chain(range).chain(list).collect();
        self.all(OP, &sql, &values, |row| summary(row, 0)).await
    }

    async fn published(&self, most: usize) -> Result<Vec<Arc<SessionSummary>>> {
        const LAST: &str = "WHERE tenant = $1 AND published_at IS NOT NULL
            ORDER BY published_at DESC, id DESC LIMIT $4";
        let values = [limit(MAX_SUMMARY_PART), text(BEFORE_ROSTER), limit(most)];
        self.all("published", &format!("{SUMMARY} {LAST}"), &values, |row| summary(row, 0)).await
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        let convened = self.convene_for(None, convocation).await?;
        convened.ok_or_else(|| Failure::corrupt("claimed without an occasion").of("convene"))
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        self.convene_for(Some(occasion), convocation).await
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        const SAVE: &str = include_str!("commits/save_session.sql");
        let SessionChange { session, expected, takes, none_filed_after, withdrawn, acts, opens } =
            change;
        let (mut args, snapshot) = session_rows::row(session, expected.next());
        let snapshot = snapshot.filter(|_| !withdrawn);
        let prepared = match takes.is_some() || snapshot.is_some() {
            true => self.prepare(session.id, snapshot.as_deref()).await?,
            false => Prepared::default(),
        };
        args["staged"] = prepared.staged.map(|attempt| bytes(&attempt)).into();
        args["keeps"] = (snapshot.is_some() && prepared.staged.is_none()).into();
        args["counted"] = prepared.takes.into();
        args["last_take"] = prepared.last_take.into();
        args["expected"] = signed(expected.0).into();
        args["takes"] = (*takes).into();
        args["end"] = none_filed_after.map(|end| end.millis()).into();
        args["withdrawn"] = (*withdrawn).into();
        let change = Change::new("save session", SAVE, args).with(acts);
        let saved = self.save(Change { opens: opens.then_some(session.id), ..change }).await;
        if let (Ok(Saved::Stale) | Err(_), Some(attempt)) = (&saved, prepared.staged) {
            // If this fails, a later call of `prepare` deletes it.
            let _ = self.unstage(session.id, &attempt).await;
        }
        saved
    }

    async fn aggregate(&self, aggregation: &Aggregation) -> Result<Aggregated> {
        aggregate_holding_takes(self, aggregation).await
    }
}

#[async_trait]
impl HoldTakes for TenantStore {
    async fn hold_takes(&self, id: SessionId, version: Version) -> Result<()> {
        const HOLD: &str = include_str!("commits/hold.sql");
        let (id, version) = (signed(id.0), signed(version.0));
        let hold = json!({"id": id, "version": version, "millis": MAX_HOLD_MILLIS});
        self.commit(Change::new("aggregate", HOLD, hold)).await.map(drop)
    }
}

/// What was done before the commit of a session.
#[derive(Default)]
struct Prepared {
    /// The attempt that the snapshot is staged for, if it is new.
    staged: Option<[u8; 16]>,
    /// The number of takes then, and the last of them.
    takes: i64,
    last_take: i64,
}

impl TenantStore {
    /// Does what would take long in the commit of a session, which holds the lock of the tenant.
    async fn prepare(&self, id: SessionId, snapshot: Option<&str>) -> Result<Prepared> {
        const OP: &str = "save session";
        const PREPARE: &str = include_str!("commits/prepare_session.sql");
        let attempt = new_attempt(OP)?;
        let values = [number(id.0), Arg::Bytes(&attempt), maybe_text(snapshot)];
        let prepared = self.pool.note(self.retried(|| self.call(PREPARE, &values)).await);
        let prepared = prepared.and_then(|rows| {
            let row = rows.first().ok_or_else(|| Failure::corrupt("no count"))?;
            let staged = row.try_get::<_, bool>(0)?.then_some(attempt);
            Ok(Prepared { staged, takes: row.try_get(1)?, last_take: row.try_get(2)? })
        });
        prepared.map_err(|failure| failure.of(OP))
    }

    /// Deletes a snapshot that was staged for a commit that was not made.
    async fn unstage(&self, id: SessionId, attempt: &[u8]) -> Result<()> {
        const UNSTAGE: &str = "DELETE FROM swarm.snapshots
            WHERE tenant = $1 AND session = $2 AND attempt = $3 AND staged_at IS NOT NULL";
        self.rows("save session", UNSTAGE, &[number(id.0), Arg::Bytes(attempt)]).await.map(drop)
    }

    /// Convenes a session; with an occasion, unless it is claimed.
    async fn convene_for(
        &self,
        occasion: Option<&str>,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        const OP: &str = "convene";
        const CONVENE: &str = include_str!("commits/convene.sql");
        let Convocation { draft, act } = convocation;
        let session = draft.convened(SessionId(0), Timestamp::EPOCH);
        let (mut args, _) = session_rows::row(&session, Version(1));
        let record = args["record"].as_str().unwrap_or_default();
        args["record"] = to_complete(record, &["id", "convenedAt"]).into();
        args["collection"] = Collection::Occasions.as_str().into();
        args["occasion"] = occasion.map_or(Value::Null, any);
        let convened = self.commit(Change::new(OP, CONVENE, args).with([act])).await?;
        match &*convened.outcome {
            "saved" => Ok(Some(Arc::new(draft.convened(SessionId(convened.id), convened.at)))),
            "claimed" => Ok(None),
            _ => Err(convened.unknown(OP)),
        }
    }
}
