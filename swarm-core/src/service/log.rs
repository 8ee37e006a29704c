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

impl Tenant {
    /// The entries after the one numbered `after` (0: from the beginning), the oldest first, at most
    /// `limit` (contract, section 10).
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
    /// because it is behind the log are taken (contract, section 10). The log says so.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_clock(&self, by: &Actor) -> Result<(), Error> {
        Ok(self.store.accept_clock(&rules::clock_accepted(by)).await?)
    }

    /// Accepts the store as it is, though its log is not the one that was seen before: what it holds
    /// counts from here on, and commits are taken again (contract, section 10). The log says so.
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
            DigestSource::Memo(id) => Ok(rules::digest(&self.kept_memo(id).await?.0)),
            DigestSource::SubjectSnapshot(subject, id) => {
                let key = id.to_string();
                let document = self.store.document(Collection::SubjectSnapshots, &key).await?;
                let missing = || StoreError::corrupt("read log", format!("no snapshot {id}"));
                let document = document.ok_or_else(missing)?;
                let draft = read(&document, SubjectSnapshotDraft::read)?;
                Ok(rules::digest(&snapshot(&subject, draft, &document)))
            }
        }
    }
}
