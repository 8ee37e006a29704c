//! Reading the log.

use super::documents::{read, snapshot};
use super::{Error, Tenant};
use crate::domain::{Actor, LogRow, Seq, SessionId, SubjectSnapshotDraft};
use crate::rules::{self, DigestSource};
use crate::store::{Collection, LogPosition, StoreError};

/// A page of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The texts of the entries, each a JSON object, the oldest first.
    pub entries: Vec<String>,
    /// The number to go on after, when there is more.
    pub next: Option<Seq>,
}

/// Where the log stood, and its last row then.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEnd {
    position: LogPosition,
    row: LogRow,
}

impl Tenant {
    /// The entries after the one numbered `after` (0: from the beginning), the oldest first, at most
    /// `limit` (API.md, 11.1).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log(&self, after: Seq, limit: usize) -> Result<LogPage, Error> {
        // One more than the page takes tells whether there are more.
        let mut rows = self.store.log(after, limit.saturating_add(1)).await?;
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().map(|row| row.seq).filter(|_| is_more);
        Ok(LogPage { entries: self.entries(&rows).await?, next })
    }

    /// Accepts the store's clock as it is: from here on it counts again, and commits that were refused
    /// because it is behind the log are taken (API.md, 11.3). The log says so.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_clock(&self, by: &Actor) -> Result<(), Error> {
        Ok(self.store.accept_clock(&rules::clock_accepted(by)).await?)
    }

    /// Accepts the store as it is, though its log is not the one that was seen before: what it holds
    /// counts from here on, and commits are taken again (API.md, 11.4). The log says so.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_store(&self, by: &Actor) -> Result<(), Error> {
        let before = self.store.seen_log().await?.size;
        Ok(self.store.accept_store(&rules::store_accepted(before, by)).await?)
    }

    /// Where the log stands.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_position(&self) -> Result<LogPosition, Error> {
        Ok(self.store.log_position().await?)
    }

    /// The last row up to a position; `None` while there is none.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_end(&self, position: LogPosition) -> Result<Option<LogEnd>, Error> {
        let rows = self.rows_from(position.size, 1).await?;
        Ok(rows.into_iter().next().map(|row| LogEnd { position, row }))
    }

    /// The end of the log at `now`, where what was shown of a session at `then` is shown still: the
    /// log goes on from there, and nothing but takes of other sessions follows. `None` where that is
    /// not so, and where it would take more than 64 rows to tell.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn unchanged(
        &self,
        session: SessionId,
        then: &LogEnd,
        now: &LogPosition,
    ) -> Result<Option<LogEnd>, Error> {
        const MOST: u64 = 64;
        let more = now.size.0.saturating_sub(then.position.size.0);
        if now.log != then.position.log || more > MOST {
            return Ok(None);
        }
        let mut rows = self.rows_from(then.position.size, more.saturating_add(1)).await?;
        let goes_on = rows.first() == Some(&then.row) && rows.len() as u64 == more + 1;
        let is_same = goes_on && !rows.iter().skip(1).any(|row| row.may_change(session));
        let last = rows.pop().filter(|_| is_same);
        Ok(last.map(|row| LogEnd { position: now.clone(), row }))
    }

    /// Rows from the one with this number on.
    async fn rows_from(&self, seq: Seq, count: u64) -> Result<Vec<LogRow>, Error> {
        let Some(before) = seq.0.checked_sub(1) else { return Ok(Vec::new()) };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(self.store.log(Seq(before), count).await?)
    }

    /// The number of the last entry; 0 while there is none.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn log_size(&self) -> Result<Seq, Error> {
        Ok(self.log_position().await?.size)
    }

    /// The entries of the acts on a session, the oldest first: not those of its takes.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn acts_on(&self, session: SessionId) -> Result<Vec<String>, Error> {
        let rows = self.store.acts_on(session).await?;
        self.entries(&rows).await
    }

    async fn entries(&self, rows: &[LogRow]) -> Result<Vec<String>, Error> {
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let digest = match rules::digest_source(row) {
                Some(source) => Some(self.digest_of(source).await?),
                None => None,
            };
            entries.push(rules::entry(row, digest.as_deref()));
        }
        Ok(entries)
    }

    /// Such a record never changes, so that it may be read long after its commit.
    async fn digest_of(&self, source: DigestSource) -> Result<String, Error> {
        match source {
            DigestSource::Memo(id) => {
                let memo = self.memo_if_any(id).await?;
                let (memo, _) = memo.ok_or_else(|| missing(format!("no memo {id}")))?;
                Ok(rules::digest(&memo))
            }
            DigestSource::SubjectSnapshot(subject, id) => {
                let key = id.to_string();
                let document = self.store.document(Collection::SubjectSnapshots, &key).await?;
                let document = document.ok_or_else(|| missing(format!("no snapshot {id}")))?;
                let draft = read(&document, SubjectSnapshotDraft::read)?;
                Ok(rules::digest(&snapshot(&subject, draft, &document)))
            }
        }
    }
}

/// What the log names is on file for good.
fn missing(what: String) -> StoreError {
    StoreError::corrupt("read log", what)
}
