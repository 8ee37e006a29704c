//! Lists of sessions.

use std::sync::Arc;

use super::{Error, Tenant};
use crate::domain::{Session, SessionId, SessionState, SessionSummary, SubjectId};
use crate::rules::{Refusal, Resource};
use crate::store::{SessionList, SessionQuery, SummaryQuery};

/// Size in bytes at which a page of the session list ends early.
const PAGE_BYTES: usize = 4 << 20;

/// Number of sessions read with their snapshots at a time.
const SESSIONS_AT_ONCE: usize = 8;

/// Number of summaries read at a time to find those that a filter keeps, and the maximum number of these reads.
const SCANNED_AT_ONCE: usize = 100;
const MAX_SCANS: usize = 10;

/// A page of the session list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPage {
    /// Sessions by id in descending order.
    pub sessions: Vec<Arc<Session>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

/// A page of summaries of sessions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SummaryPage {
    /// Summaries of sessions by id in descending order.
    pub sessions: Vec<Arc<SessionSummary>>,
    /// The cursor of the next page; `None` on the last page.
    pub next_before: Option<SessionId>,
}

impl Tenant {
    /// Summaries of the `limit` sessions that were published last, the latest first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn published(&self, limit: usize) -> Result<Vec<Arc<SessionSummary>>, Error> {
        Ok(self.store.published(limit).await?)
    }

    /// Summaries of the `limit` newest sessions of a list with ids below `before`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn summaries(
        &self,
        list: SessionList,
        limit: usize,
        before: Option<SessionId>,
    ) -> Result<SummaryPage, Error> {
        // One more than the page holds shows whether there are more.
        let limit_and_one = limit.saturating_add(1);
        let query = SummaryQuery { list, before, after: None, limit: limit_and_one };
        let mut sessions = self.store.session_summaries(&query).await?;
        let is_last = sessions.len() <= limit;
        sessions.truncate(limit);
        let next_before = sessions.last().filter(|_| !is_last).map(|last| last.id);
        Ok(SummaryPage { sessions, next_before })
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
        // One more than the page holds shows whether there are more.
        let query = SessionQuery {
            before,
            limit: limit.saturating_add(1),
            without_snapshots: true,
            ..SessionQuery::default()
        };
        // One call, so all sessions are as of one position of the log. Snapshots can be read later, because they
        // never change.
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

    /// The summary of a session.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn summary(&self, id: SessionId) -> Result<Arc<SessionSummary>, Error> {
        let before = Some(SessionId(id.0.saturating_add(1)));
        let query = SummaryQuery { before, limit: 1, ..SummaryQuery::default() };
        let found = self.store.session_summaries(&query).await?.into_iter().next();
        Ok(found.filter(|found| found.id == id).ok_or(Refusal::NotFound(Resource::Session))?)
    }

    /// A session without its snapshot.
    pub(super) async fn without_snapshot(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        let query = SessionQuery {
            before: Some(SessionId(id.0.saturating_add(1))),
            limit: 1,
            without_snapshots: true,
            ..SessionQuery::default()
        };
        let found = self.store.sessions(&query).await?.into_iter().next();
        Ok(found.filter(|found| found.id == id).ok_or(Refusal::NotFound(Resource::Session))?)
    }

    /// A session without its takes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn session_record(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        Ok(self.load(id).await?.record)
    }

    /// Summaries of up to `limit` of the newest sessions of a list with ids below `before` that `keep` keeps, by
    /// id in descending order. A page has fewer if they are not among the next 1,000 sessions of the list;
    /// [`SummaryPage::next_before`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn summaries_where(
        &self,
        list: SessionList,
        limit: usize,
        before: Option<SessionId>,
        keep: impl Fn(&SessionSummary) -> bool + Send,
    ) -> Result<SummaryPage, Error> {
        let mut query = SummaryQuery { list, before, after: None, limit: SCANNED_AT_ONCE };
        let mut sessions = Vec::new();
        for _ in 0..MAX_SCANS {
            let listed = self.store.session_summaries(&query).await?;
            for session in listed.iter().filter(|session| keep(session)) {
                if sessions.len() == limit {
                    return Ok(SummaryPage { next_before: query.before, sessions });
                }
                query.before = Some(session.id);
                sessions.push(Arc::clone(session));
            }
            query.before = listed.last().map(|last| last.id);
            if listed.len() < SCANNED_AT_ONCE {
                return Ok(SummaryPage { next_before: None, sessions });
            }
        }
        Ok(SummaryPage { next_before: query.before, sessions })
    }

    /// The sessions of the same subject before and after this one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn neighbours(
        &self,
        id: SessionId,
        subject: &SubjectId,
    ) -> Result<[Option<Arc<SessionSummary>>; 2], Error> {
        let list = SessionList::About(subject.clone());
        let one = SummaryQuery { list, limit: 1, ..SummaryQuery::default() };
        let earlier = SummaryQuery { before: Some(id), ..one.clone() };
        let later = SummaryQuery { after: Some(id), ..one };
        Ok([
            self.store.session_summaries(&earlier).await?.pop(),
            self.store.session_summaries(&later).await?.pop(),
        ])
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
        // A session that is missing now was withdrawn.
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
