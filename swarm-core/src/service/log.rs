//! Reading the log.

use serde::{Serialize, Serializer};

use super::{Error, LogFilter, Tenant, log_rows};
use crate::domain::{
    Actor, LogBefore, LogLine, LogRow, Nonce, Seq, SessionId, SubjectId, Timestamp, TokenHash,
};
use crate::proof::log_line;
use crate::rules::{self, Refusal};
use crate::store::{BasisQuery, Caller, LogPosition, StoreErrorKind};

/// A question for a page of the log.
#[derive(Clone, Debug)]
pub struct LogQuery {
    /// Only entries with a higher number; 0: all.
    pub after: Seq,
    /// The maximum number of entries.
    pub limit: usize,
    /// The selected entries.
    pub filter: LogFilter,
}

impl LogQuery {
    /// A page of all entries.
    pub fn all(after: Seq, limit: usize) -> Self {
        Self { after, limit, filter: LogFilter::default() }
    }
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Log"))]
pub struct LogPage {
    /// The number of the log: 1 at first, and one more each time that another begins.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub log: u64,
    /// The entries, the oldest first.
    pub entries: Vec<PageEntry>,
    /// The number after which the next page begins: the value of after for it.
    pub next: Seq,
    /// Whether there may be more entries after it now.
    pub more: bool,
}

impl LogPage {
    /// The entries that can be read.
    pub fn lines(&self) -> impl Iterator<Item = &LogLine> {
        self.entries.iter().filter_map(PageEntry::line)
    }
}

/// An entry on a page of the log.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged, inline))]
pub enum PageEntry {
    /// The entry.
    Line(LogLine),
    /// The entry with this number cannot be read, because what it is about is gone from the store (API.md, 11.4).
    Unreadable(#[cfg_attr(feature = "schema", schemars(with = "UnreadableEntry"))] Seq),
}

impl PageEntry {
    /// Returns the entry, unless it cannot be read.
    pub fn line(&self) -> Option<&LogLine> {
        match self {
            Self::Line(line) => Some(line),
            Self::Unreadable(_) => None,
        }
    }

    /// Returns the number of the entry.
    pub fn seq(&self) -> Seq {
        match self {
            Self::Line(line) => line.seq,
            Self::Unreadable(seq) => *seq,
        }
    }
}

impl Serialize for PageEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Line(line) => line.serialize(serializer),
            Self::Unreadable(seq) => {
                UnreadableEntry { seq: *seq, at: None, kind: "unreadable" }.serialize(serializer)
            }
        }
    }
}

/// In place of an entry that cannot be read, because what it is about is gone from the store.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UnreadableEntry {
    /// The number of the entry.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    seq: Seq,
    /// The time of its commit; null: it is not known.
    at: Option<Timestamp>,
    #[cfg_attr(feature = "schema", schemars(extend("const" = "unreadable")))]
    kind: &'static str,
}

/// A position of the log, with its last row.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEnd {
    position: LogPosition,
    row: LogRow,
}

impl LogEnd {
    pub(super) fn into_row(self) -> LogRow {
        self.row
    }
}

impl Tenant {
    /// Returns a page of the log, oldest entries first (API.md, 11.1). A page of selected entries ends early, with
    /// [`more`](LogPage::more), if 20,000 entries do not fill it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log(&self, query: &LogQuery) -> Result<LogPage, Error> {
        const MAX_LOOKED_THROUGH: usize = 20_000;
        const ROWS: usize = 1_000;
        let LogQuery { after, limit, filter } = query;
        let log = self.store.log_position().await?.log;
        let mut page = LogPage { log, entries: Vec::new(), next: *after, more: true };
        let mut looked_through = 0;
        while page.more && looked_through < MAX_LOOKED_THROUGH {
            // Load one more than the page holds, to learn whether there is a next page.
            let count = match filter.is_empty() {
                true => limit.saturating_add(1),
                false => ROWS,
            };
            let rows = log_rows::rows(&self.store, page.next, count).await?;
            looked_through += rows.len();
            page.more = rows.len() == count;
            for (entry, seq) in self.selected(rows, filter).await? {
                if page.entries.len() == *limit {
                    if entry.is_some() {
                        page.more = true;
                        return Ok(page);
                    }
                    // What does not fit after the last entry of a full page is passed over with it.
                    page.next = seq;
                    continue;
                }
                page.entries.extend(entry);
                page.next = seq;
            }
        }
        Ok(page)
    }

    /// The entries of rows with their numbers; `None` for those that are not selected.
    async fn selected(
        &self,
        rows: Vec<log_rows::Row>,
        filter: &LogFilter,
    ) -> Result<Vec<(Option<PageEntry>, Seq)>, Error> {
        if filter.is_empty() {
            let entry = |row: log_rows::Row| match row {
                Ok(row) => (Some(PageEntry::Line(log_line(&row))), row.seq),
                Err(unreadable) => (Some(PageEntry::Unreadable(unreadable.seq)), unreadable.seq),
            };
            return Ok(rows.into_iter().map(entry).collect());
        }
        let readable = rows.iter().filter_map(|row| row.as_ref().ok());
        let followed = self.followed(readable).await?.into_iter();
        let mut followed = followed.peekable();
        let entry = |row: &log_rows::Row| {
            let seq = log_rows::seq(row);
            let found = followed.next_if(|followed| followed.line.seq == seq);
            let found = found.filter(|followed| filter.fits(followed));
            (found.map(|followed| PageEntry::Line(followed.line)), seq)
        };
        Ok(rows.iter().map(entry).collect())
    }

    /// Accepts the store's clock although it is behind the log: commits are possible again and use
    /// its time (API.md, 11.3). This is logged.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_clock(&self, by: &Actor) -> Result<(), Error> {
        Ok(self.store.accept_clock(&rules::clock_accepted(by)).await?)
    }

    /// Accepts the store although its log does not continue the one seen before: its current
    /// records count, and commits are possible again (API.md, 11.4). This is logged.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_store(&self, by: &Actor) -> Result<(), Error> {
        let before = LogBefore::seen(self.store.seen_log().size);
        Ok(self.store.accept_store(&rules::store_accepted(before, by)).await?)
    }

    /// Returns whether the log continues from where this process has seen it, so that nothing has to be accepted.
    ///
    /// # Errors
    /// [`Error::Store`], unless the log went back.
    pub async fn continues_log(&self) -> Result<bool, Error> {
        let subject_id = SubjectId::parse("none").map_err(Refusal::InvalidRequest)?;
        let nonce = Nonce::parse("none").map_err(Refusal::InvalidRequest)?;
        let (nobody, date) = (TokenHash::of(b""), Timestamp::EPOCH.day());
        // Facts are read only of a log that continues.
        let caller = Caller::Bearer(&nobody);
        let query = BasisQuery { caller, date, subject_id: &subject_id, nonce: &nonce };
        match self.store.basis(&query).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == StoreErrorKind::WentBack => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the position of the log.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_position(&self) -> Result<LogPosition, Error> {
        Ok(self.store.log_position().await?)
    }

    /// Returns the position with its last row; `None` when the log is empty, or that row cannot be
    /// read.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_end(&self, position: LogPosition) -> Result<Option<LogEnd>, Error> {
        let rows = self.rows_from(position.size, 1).await?;
        Ok(rows.into_iter().next().map(|row| LogEnd { position, row }))
    }

    /// Returns the end of the log at `now` if a cached view of a session from `then` is still current, because the log continues from there with nothing but takes of
    /// other sessions. `None` otherwise, or if that would take more than 64 rows.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn revalidate(
        &self,
        session: SessionId,
        then: &LogEnd,
        now: &LogPosition,
    ) -> Result<Option<LogEnd>, Error> {
        const MAX_ROWS: u64 = 64;
        let more = now.size.0.saturating_sub(then.position.size.0);
        if now.log != then.position.log || more > MAX_ROWS {
            return Ok(None);
        }
        let mut rows = self.rows_from(then.position.size, more.saturating_add(1)).await?;
        let goes_on = rows.first() == Some(&then.row) && rows.len() as u64 == more + 1;
        let is_same = goes_on && !rows.iter().skip(1).any(|row| row.may_change(session));
        let last = rows.pop().filter(|_| is_same);
        Ok(last.map(|row| LogEnd { position: now.clone(), row }))
    }

    /// The rows from the one with this number on, up to one that cannot be read.
    async fn rows_from(&self, seq: Seq, count: u64) -> Result<Vec<LogRow>, Error> {
        let Some(before) = seq.0.checked_sub(1) else { return Ok(Vec::new()) };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let rows = log_rows::rows(&self.store, Seq(before), count).await?;
        Ok(rows.into_iter().map_while(Result::ok).collect())
    }

    /// Returns the number of the last entry; 0 when there is none.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_size(&self) -> Result<Seq, Error> {
        Ok(self.log_position().await?.size)
    }

    /// Returns the entries of the acts on a session, the oldest first: not those of its takes.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn acts_on(&self, session: SessionId) -> Result<Vec<LogLine>, Error> {
        Ok(self.store.acts_on(session).await?.iter().map(log_line).collect())
    }
}
