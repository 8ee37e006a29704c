//! Implements [`Sessions`].

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{AttemptId, SessionState, SessionSummary, Version};
use swarm_core::store::{
    Aggregated, Aggregation, Collection, Convocation, HoldTakes, MAX_HOLD_MILLIS, Result, Saved,
    SessionChange, SessionList, SessionQuery, Sessions, SummaryQuery, Versioned,
    aggregate_holding_takes,
};
use swarm_core::{Session, SessionId, StoreError, Timestamp};

use crate::codec::{self, Context};
use crate::documents::in_group;
use crate::keys::{self, BY_STATE, collection_name};
use crate::proposal::Proposal;
use crate::rows::{SessionParts, entry_arg, saved};
use crate::scripts;
use crate::snapshots::{self, until_unchanged};
use crate::tenant::{TenantStore, new_attempt};

#[async_trait]
impl Sessions for TenantStore {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>> {
        const OP: &str = "session";
        let get = redis::cmd("HGET").arg(self.keys.sessions()).arg(id.0).to_owned();
        until_unchanged(OP, || async {
            let Some(mut row) = self.query::<Option<String>>(OP, &get).await? else {
                return Ok(Some(None));
            };
            if !self.complete(OP, &mut row).await? {
                return Ok(None);
            }
            codec::decode_session(&row).context(OP).map(Some).map(Some)
        })
        .await
    }

    /// A day and subject has few sessions, so their state is filtered here, not in the index.
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>> {
        let (listing, limit) = match (&query.on, query.state) {
            (Some((day, subject)), state) => {
                let limit = state.is_none().then_some(query.limit);
                (keys::sessions_on(&day.to_string(), subject.as_str()), limit)
            }
            (None, Some(state)) => (keys::in_state(state.as_str()), Some(query.limit)),
            (None, None) => (all(), Some(query.limit)),
        };
        let before = query.before.map(|id| id.0);
        let rows = if query.without_snapshots {
            let parts = SessionParts::WithoutSnapshot;
            self.listed_parts("sessions", parts, &listing, (None, before), limit).await?
        } else {
            self.listed_whole("sessions", &listing, before, limit).await?
        };
        let found = codec::decode_each(&rows, |row| Ok(codec::decode_session(row)?.record))
            .context("sessions")?;
        let wanted = |state: SessionState| query.state.is_none_or(|wanted| wanted == state);
        Ok(found.into_iter().filter(|it| wanted(it.state)).take(query.limit).collect())
    }

    async fn session_summaries(&self, query: &SummaryQuery) -> Result<Vec<Arc<SessionSummary>>> {
        let listing = match &query.list {
            SessionList::All => all(),
            SessionList::InState(state) => keys::in_state(state.as_str()),
            SessionList::About(subject) => keys::sessions_about(subject.as_str()),
        };
        let range = (query.after.map(|id| id.0), query.before.map(|id| id.0));
        self.summaries("session summaries", &listing, range, query.limit).await
    }

    async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>> {
        self.summaries("published", &published(), (None, None), limit).await
    }

    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>> {
        let convened = self.convene_for("", convocation).await?;
        convened.ok_or_else(|| StoreError::corrupt("convene", "claimed without an occasion"))
    }

    async fn convene_once(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        self.convene_for(occasion, convocation).await
    }

    async fn save_session(&self, change: &SessionChange) -> Result<Saved> {
        const OP: &str = "save session";
        let row = codec::encode_session(change.expected.next(), &change.session);
        let (row, pieces) = match change.withdrawn {
            true => (row, Vec::new()),
            false => snapshots::divided(row),
        };
        let attempt = new_attempt(OP)?;
        let staged = self.keys.staged_snapshot(change.session.id, attempt);
        let saved = async {
            self.stage(OP, &staged, &pieces).await?;
            self.commit_session(OP, change, &row, (attempt, pieces.len())).await
        };
        let saved = saved.await;
        if !pieces.is_empty() && !matches!(saved, Ok(Saved::Saved)) {
            // A caller may try again at once, for as long as commits fail. If this fails too, they expire. A commit that is
            // still on its way is stale then, or has renamed them.
            let _removed = self.unstage(OP, &staged).await;
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
        let mut script = self.call(&scripts::HOLD, []);
        script.arg(id.0).arg(version.0).arg(MAX_HOLD_MILLIS);
        self.write("aggregate", script).await.map(drop)
    }
}

impl TenantStore {
    /// The whole rows of a listing, all at one position of the log.
    async fn listed_whole(
        &self,
        op: &'static str,
        listing: &str,
        before: Option<u64>,
        limit: Option<usize>,
    ) -> Result<Vec<String>> {
        until_unchanged(op, || async {
            let keys = [self.keys.sessions(), self.keys.sessions_index()];
            let mut rows = self.listed(op, keys, listing, before, limit).await?;
            for row in &mut rows {
                if !self.complete(op, row).await? {
                    return Ok(None);
                }
            }
            Ok(Some(rows))
        })
        .await
    }

    /// Commits the change of a session, whose row has as many pieces staged for this attempt.
    pub(crate) async fn commit_session(
        &self,
        op: &'static str,
        change: &SessionChange,
        row: &str,
        (attempt, pieces): (AttemptId, usize),
    ) -> Result<Saved> {
        let SessionChange { session, expected, takes, none_filed_after, withdrawn, acts, opens } =
            change;
        let (day, subject) = (session.date.to_string(), session.subject_id.as_str());
        let keys = [
            self.keys.attempt(attempt),
            self.keys.sessions(),
            self.keys.sessions_index(),
            self.keys.session_takes(session.id),
            self.keys.acts(),
            self.keys.session_snapshot(session.id),
            self.keys.staged_snapshot(session.id, attempt),
        ];
        let mut script = self.call(&scripts::SAVE_SESSION, keys);
        script.arg(session.id.0).arg(expected.0);
        script.arg(takes.map(|takes| takes.to_string()).unwrap_or_default());
        script.arg(row);
        script.arg(BY_STATE).arg(keys::in_state(session.state.as_str()));
        script.arg(session.published_at.map(published_at).unwrap_or_default());
        script.arg(none_filed_after.map(|end| end.millis().to_string()).unwrap_or_default());
        // Where it is withdrawn: the other listings that it is in.
        script.arg(if *withdrawn { all() } else { String::new() });
        script.arg(keys::sessions_on(&day, subject));
        script.arg(keys::sessions_about(subject));
        script.arg(if *opens { "opens" } else { "" });
        script.arg(pieces).arg(acts.len());
        for act in acts {
            script.arg(entry_arg(Some(act)));
        }
        let outcome = self.commit(op, script).await?;
        saved(op, &outcome)
    }

    async fn summaries(
        &self,
        op: &'static str,
        listing: &str,
        range: (Option<u64>, Option<u64>),
        limit: usize,
    ) -> Result<Vec<Arc<SessionSummary>>> {
        let parts = SessionParts::Summary;
        let rows = self.listed_parts(op, parts, listing, range, Some(limit)).await?;
        codec::decode_each(&rows, codec::decode_summary).context(op)
    }

    /// Convenes a session; with an occasion that is not empty, unless it is claimed.
    async fn convene_for(
        &self,
        occasion: &str,
        convocation: &Convocation,
    ) -> Result<Option<Arc<Session>>> {
        const OP: &str = "convene";
        let Convocation { draft, act } = convocation;
        let (day, state) = (draft.date.to_string(), draft.state.as_str());
        let [claims, claimed, claims_index] =
            self.keys.collection(collection_name(Collection::Occasions)?);
        let keys = [
            self.attempt(OP)?,
            self.keys.sessions(),
            self.keys.sessions_index(),
            self.keys.counters(),
            self.keys.acts(),
            claims,
            claimed,
            claims_index,
        ];
        let mut proposal = Proposal::of(Some(act));
        loop {
            let mut script = self.call(&scripts::CONVENE, &keys);
            script.arg(state).arg(codec::encode_session_draft(draft));
            script
                .arg(all())
                .arg(keys::in_state(state))
                .arg(keys::sessions_on(&day, draft.subject_id.as_str()))
                .arg(keys::sessions_about(draft.subject_id.as_str()))
                .arg(occasion)
                .arg(in_group(""));
            proposal.write(&mut script);
            let outcome = self.commit(OP, script).await?;
            match proposal.next(OP, Some(act), &outcome)? {
                Some(wanted) => proposal = wanted,
                None if outcome == "claimed" => return Ok(None),
                None => {
                    let session = codec::decode_convened(&outcome, draft).context(OP)?;
                    return Ok(Some(Arc::new(session)));
                }
            }
        }
    }
}

/// The listing of all sessions.
pub(crate) fn all() -> String {
    keys::listing(&["all"])
}

/// The listing of the published sessions, by when and id.
fn published() -> String {
    keys::listing(&["published"])
}

/// The part of it for this moment, in milliseconds counted from the smallest `i64`: there are
/// moments before 1970, and a minus sign would break the order.
pub(crate) fn published_at(moment: Timestamp) -> String {
    keys::with_number(&published(), moment.millis().abs_diff(i64::MIN))
}
