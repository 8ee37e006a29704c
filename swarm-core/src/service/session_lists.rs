//! Lists of sessions.

use std::sync::Arc;

use super::{Error, Tenant};
use crate::domain::{Session, SessionId, SessionState};
use crate::store::SessionQuery;

/// A page of the session list ends early once its sessions have about this many bytes.
const PAGE_BYTES: usize = 4 << 20;

/// How many sessions the list has the store read at a time with their snapshots.
const SESSIONS_AT_ONCE: usize = 8;

/// A page of the session list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPage {
    /// Sessions by id in descending order.
    pub sessions: Vec<Arc<Session>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

impl Tenant {
    /// The `limit` sessions that were published last, the latest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>, Error> {
        Ok(self.store.published(limit).await?)
    }

    /// The `limit` newest sessions with ids below `before`. A page has fewer sessions if they
    /// exceed about 4 MiB, but at least one, if there is one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions(
        &self,
        limit: usize,
        before: Option<SessionId>,
    ) -> Result<SessionPage, Error> {
        // One more than the page takes tells whether there are more.
        let query = SessionQuery {
            before,
            limit: limit.saturating_add(1),
            without_snapshots: true,
            ..SessionQuery::default()
        };
        // In one call, so at one position of the log. A snapshot never changes: read later, it is what
        // it was then.
        let listed = self.store.sessions(&query).await?;
        let (mut sessions, mut room): (Vec<Arc<Session>>, _) = (Vec::new(), Some(PAGE_BYTES));
        for some in listed.chunks(SESSIONS_AT_ONCE) {
            for session in self.with_snapshots(some).await? {
                room = room.and_then(|room| room.checked_sub(length(&session)));
                if sessions.len() == limit || (room.is_none() && !sessions.is_empty()) {
                    let next_before = sessions.last().map(|last| last.id);
                    return Ok(SessionPage { next_before, sessions });
                }
                sessions.push(session);
            }
        }
        Ok(SessionPage { next_before: None, sessions })
    }

    /// Successive sessions of the list, with their snapshots.
    async fn with_snapshots(&self, listed: &[Arc<Session>]) -> Result<Vec<Arc<Session>>, Error> {
        let is_aggregated = |session: &Session| session.state >= SessionState::Aggregated;
        let Some(first) = listed.iter().find(|session| is_aggregated(session)) else {
            return Ok(listed.to_vec());
        };
        let before = Some(SessionId(first.id.0.saturating_add(1)));
        let whole = SessionQuery { before, limit: listed.len(), ..SessionQuery::default() };
        let whole = self.store.sessions(&whole).await?;
        // One that is missing by now was withdrawn.
        let snapshot = |id| whole.iter().find(|it| it.id == id).map(|it| it.snapshot.clone());
        let with = |session: &Arc<Session>| match is_aggregated(session) {
            true => snapshot(session.id)
                .map(|snapshot| Arc::new(Session { snapshot, ..Session::clone(session) })),
            false => Some(Arc::clone(session)),
        };
        Ok(listed.iter().filter_map(with).collect())
    }
}

/// The approximate size of a session in a list, in bytes, without its parts of constant size.
fn length(session: &Session) -> usize {
    /// The size of a quote without its texts.
    const QUOTE: usize = 150;
    const OTHER: usize = 65;
    let names = session.buckets.iter().flatten().map(|bucket| OTHER + bucket.as_str().len());
    let roster = session.roster.iter().map(|roster| OTHER * roster.entries().len());
    let snapshot = session.snapshot.as_deref();
    let quotes = snapshot.into_iter().flat_map(|snapshot| &snapshot.quotes);
    let quotes =
        quotes.map(|quote| QUOTE + quote.stance.as_str().len() + quote.body.as_str().len());
    let weights = snapshot.and_then(|snapshot| snapshot.weights.as_deref()).unwrap_or_default();
    let weights = weights.iter().map(|entry| OTHER + entry.bucket.as_str().len());
    names.chain(roster).chain(quotes).chain(weights).sum()
}
