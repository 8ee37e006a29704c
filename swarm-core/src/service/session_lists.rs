//! Lists of sessions.

use std::sync::Arc;

use super::{Error, Tenant};
use crate::domain::{Session, SessionId, SessionState, SubjectId};
use crate::store::SessionQuery;

/// A page of the session list ends early once its sessions have about this many bytes.
const PAGE_BYTES: usize = 4 << 20;

/// How many sessions the list has the store read at a time with their snapshots.
const SESSIONS_AT_ONCE: usize = 8;

/// How many sessions are read at a time, without their snapshots, to find those of one subject, and how
/// often at most.
const SCANNED_AT_ONCE: usize = 100;
const MAX_SCANS: usize = 10;

/// How many ids before and after a session its neighbours are looked for.
const NEIGHBOURHOOD: usize = 100;

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

    /// A session without its takes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`](crate::Refusal::NotFound) when there is none with this id.
    pub async fn session_record(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        Ok(self.load(id).await?.record)
    }

    /// The `limit` newest sessions in this state, by id in descending order.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions_in(
        &self,
        state: SessionState,
        limit: usize,
    ) -> Result<Vec<Arc<Session>>, Error> {
        let query = SessionQuery { state: Some(state), limit, ..SessionQuery::default() };
        Ok(self.store.sessions(&query).await?)
    }

    /// Up to `limit` of the newest sessions of a subject with ids below `before`; see
    /// [`sessions_where`](Self::sessions_where).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions_of(
        &self,
        subject: &SubjectId,
        limit: usize,
        before: Option<SessionId>,
    ) -> Result<SessionPage, Error> {
        self.sessions_where(limit, before, |session| session.subject_id == *subject).await
    }

    /// Up to `limit` of the newest sessions with ids below `before` that `keep` keeps, by id in descending
    /// order; it sees them without their snapshots. A page has fewer if they are not among the next 1,000
    /// sessions of the list; [`SessionPage::next_before`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn sessions_where(
        &self,
        limit: usize,
        mut before: Option<SessionId>,
        keep: impl Fn(&Session) -> bool + Send,
    ) -> Result<SessionPage, Error> {
        let mut sessions = Vec::new();
        for _ in 0..MAX_SCANS {
            let query = SessionQuery {
                before,
                limit: SCANNED_AT_ONCE,
                without_snapshots: true,
                ..SessionQuery::default()
            };
            let listed = self.store.sessions(&query).await?;
            for session in listed.iter().filter(|session| keep(session)) {
                if sessions.len() == limit {
                    return Ok(SessionPage { next_before: before, sessions });
                }
                before = Some(session.id);
                sessions.push(self.load(session.id).await?.record);
            }
            before = listed.last().map(|last| last.id);
            if listed.len() < SCANNED_AT_ONCE {
                return Ok(SessionPage { next_before: None, sessions });
            }
        }
        Ok(SessionPage { next_before: before, sessions })
    }

    /// The sessions of the same subject before and after this one, without their snapshots, among the
    /// hundred ids on each side.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn neighbours(&self, session: &Session) -> Result<[Option<Arc<Session>>; 2], Error> {
        let after = session.id.0.saturating_add(NEIGHBOURHOOD as u64 + 1);
        let query = SessionQuery {
            before: Some(SessionId(after)),
            limit: 2 * NEIGHBOURHOOD + 1,
            without_snapshots: true,
            ..SessionQuery::default()
        };
        let mut listed = self.store.sessions(&query).await?;
        listed.retain(|other| other.subject_id == session.subject_id);
        let earlier = listed.iter().find(|other| other.id < session.id).cloned();
        let later = listed.iter().rev().find(|other| other.id > session.id).cloned();
        Ok([earlier, later])
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
