//! What pages show of a tenant as a whole: its subjects with their latest results, how its members compare, and what
//! changed after an entry of the log (MANUAL.md, 10.3 and 10.8).
//!
//! To read all of that for each request would cost more the more there is. But it changes only by commits that append to
//! the log, so it is kept in memory and follows the log: each call reads the entries that were appended since the call
//! before, and again the records that these are about. Nothing is stored. A log that does not continue, or that went on
//! by more entries than are kept, is read anew.
//!
//! Everything here is bounded: the newest [`MAX_ENTRIES`] entries, [`MAX_BOARD`] subjects, [`MAX_COMPARED`] members, the newest
//! [`MAX_RESULTS`] results, and the newest [`MAX_UNFINISHED`] sessions without one.

mod board;
mod comparison;
mod news;
mod recent;
mod unfinished;

use std::sync::Arc;

use super::log_cursor::LogCursor;
use super::{Error, Tenant};
use crate::domain::{LogRow, Seq, SessionSummary, SubjectId, Timestamp};
use crate::rules::takes_may_come;
use crate::store::LogPosition;

pub use board::{Board, MAX_BOARD, ResultPoint, SubjectTrend};
pub use comparison::{ComparedMember, MAX_COMPARED, MAX_RESULTS, MemberComparison};
pub use news::{News, OutcomeNews, SubjectNews};
pub use recent::MAX_ENTRIES;
pub use unfinished::{MAX_UNFINISHED, Unfinished};

use comparison::Comparing;
use recent::{Changes, Recent};

/// The overview of one tenant, as of a position of its log. A front end keeps one for each tenant; each call brings it up to
/// date first.
#[derive(Debug, Default)]
pub struct Overview {
    /// The position that was read to; `None` before the first call.
    position: Option<LogPosition>,
    /// The same with its row; `None` also where the log is empty, or that row cannot be read.
    read_to: Option<LogCursor>,
    recent: Recent,
    board: Arc<Board>,
    unfinished: Arc<Unfinished>,
    /// Made when it is first asked for.
    comparing: Option<Comparing>,
}

impl Overview {
    /// Returns the subjects with their latest results.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn board(&mut self, tenant: &Tenant) -> Result<Arc<Board>, Error> {
        self.follow(tenant).await?;
        Ok(Arc::clone(&self.board))
    }

    /// Returns the sessions without a result, up to [`MAX_UNFINISHED`].
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn unfinished(&mut self, tenant: &Tenant) -> Result<Arc<Unfinished>, Error> {
        self.follow(tenant).await?;
        Ok(Arc::clone(&self.unfinished))
    }

    /// Returns the `limit` sessions with the soonest deadlines of those to `keep` in which a first take would be accepted now and would
    /// count, the soonest first; those without a deadline come last.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn open_sessions(
        &mut self,
        tenant: &Tenant,
        keep: impl Fn(&SessionSummary) -> bool,
        limit: usize,
    ) -> Result<Vec<Arc<SessionSummary>>, Error> {
        let now = tenant.now().await?;
        let unfinished = self.unfinished(tenant).await?;
        let is_open =
            |it: &&Arc<SessionSummary>| takes_may_come(it.window_closes_at, now) && keep(it);
        let mut open: Vec<_> = unfinished.values().filter(is_open).cloned().collect();
        open.sort_by_key(|session| session.by_deadline());
        tenant.newest_of_their_days(open, limit).await
    }

    /// Returns how the members compare.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn comparison(&mut self, tenant: &Tenant) -> Result<Arc<MemberComparison>, Error> {
        self.follow(tenant).await?;
        let comparing = match &mut self.comparing {
            Some(comparing) => comparing,
            none => none.insert(Comparing::read(tenant, &self.recent).await?),
        };
        Ok(comparing.comparison())
    }

    /// Returns what happened after the entry with this number, or in the newest [`MAX_ENTRIES`] entries if that is longer
    /// ago.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn news(&mut self, tenant: &Tenant, after: Seq) -> Result<News, Error> {
        self.follow(tenant).await?;
        let mut news = News::of(&self.recent, after);
        for subject in &mut news.subjects {
            subject.trend = match self.board.get(&subject.subject) {
                Some(trend) => Some(Arc::clone(trend)),
                None => board::trend(tenant, &subject.subject).await?.map(Arc::new),
            };
        }
        Ok(news)
    }

    /// Returns the number of the last entry before this time, of those that are kept; the number before which none is kept
    /// if all of them are later.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn entry_before(&mut self, tenant: &Tenant, time: Timestamp) -> Result<Seq, Error> {
        self.follow(tenant).await?;
        Ok(self.recent.entry_before(time))
    }

    /// Reads what was appended to the log.
    async fn follow(&mut self, tenant: &Tenant) -> Result<(), Error> {
        let now = tenant.log_position().await?;
        if self.position.as_ref() == Some(&now) {
            return Ok(());
        }
        let Some(cursor) = &self.read_to else { return self.read(tenant, now).await };
        let mut rows = Vec::new();
        let mut add = |row: &LogRow| rows.extend(recent::Row::of(row));
        if !cursor.appended(tenant, &now, MAX_ENTRIES, &mut add).await? {
            return self.read(tenant, now).await;
        }
        // If a record below cannot be read, the same rows are read again, which changes nothing where they were read.
        let changes = self.recent.add(tenant, rows, now.size).await?;
        self.apply(tenant, changes).await?;
        self.read_to = LogCursor::at(tenant, now.clone()).await?;
        self.position = Some(now);
        Ok(())
    }

    async fn apply(&mut self, tenant: &Tenant, changes: Changes) -> Result<(), Error> {
        let dirty: Vec<SubjectId> = changes.subjects.into_iter().collect();
        if !dirty.is_empty() {
            let trends = board::trends(tenant, &dirty).await?;
            Arc::make_mut(&mut self.board).put(trends);
        }
        if !changes.sessions.is_empty() {
            let unfinished = Arc::make_mut(&mut self.unfinished);
            unfinished::update(unfinished, tenant, &changes.sessions).await?;
        }
        if let Some(comparing) = &mut self.comparing {
            comparing.apply(tenant, &changes.filed, &changes.members, &changes.results).await?;
            if changes.takes_away {
                // The results before those that are kept are not known.
                self.comparing = None;
            }
        }
        Ok(())
    }

    /// Reads everything anew.
    async fn read(&mut self, tenant: &Tenant, now: LogPosition) -> Result<(), Error> {
        // The position comes first: what changes while records are read is read again after it.
        let read_to = LogCursor::at(tenant, now.clone()).await?;
        let recent = Recent::read(tenant, now.size).await?;
        let board = Arc::new(Board::read(tenant).await?);
        let unfinished = Arc::new(unfinished::read(tenant).await?);
        *self = Self { position: Some(now), read_to, recent, board, unfinished, comparing: None };
        Ok(())
    }
}
