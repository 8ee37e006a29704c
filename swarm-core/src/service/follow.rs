//! Following the log of a tenant from a program that embeds the core: each entry with the record that it is about.
//!
//! This is the outbox of the service. Each entry is written by the commit of its change, so a follower that keeps its
//! [`Cursor`] in a transaction of its own handles every change exactly once. An [`Observer`](super::Observer) hears of
//! commits of its own process alone, at most once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Error, Followed, Tenant, log_rows};
use crate::domain::{Invalid, LogEntry, Logged, Member, MemberId, Seq, Session, SessionId, TakeId};
use crate::rules::PublicTake;
use crate::store::LogPosition;

/// How far a follower has come: the number of the log, and of the last entry that it has handled. Its text is the two
/// numbers with a slash between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The number of the log: 1 at first, and one more each time that an operator accepts a store (API.md, 11.4).
    pub log: u64,
    /// The number of the last entry; 0 for none.
    pub seq: Seq,
}

impl Cursor {
    /// Before the first entry of a new tenant.
    pub const START: Self = Self { log: 1, seq: Seq(0) };
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.log, self.seq)
    }
}

impl FromStr for Cursor {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let numbers = text.split_once('/').and_then(|(log, seq)| {
            Some(Self { log: log.parse().ok()?, seq: Seq(seq.parse().ok()?) })
        });
        let numbers = numbers.filter(|cursor| cursor.to_string() == text);
        numbers.ok_or_else(|| Invalid::new("cursor", "must be LOG/SEQ"))
    }
}

/// What follows a [`Cursor`].
#[derive(Clone, Debug, PartialEq)]
pub enum Follow {
    /// The next entries.
    Page(FollowPage),
    /// Another log has begun, because an operator accepted a store that had lost records or was restored. What was handled
    /// since may be gone. Follow on with a cursor of this log: from its beginning, or from an entry that is still there.
    OtherLog {
        /// The number of the log that the store has now.
        log: u64,
    },
}

/// Entries of the log, the oldest first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FollowPage {
    /// The entries. Empty at the end of the log.
    pub entries: Vec<FollowedEntry>,
    /// The cursor to keep once they are handled.
    pub next: Cursor,
}

/// An entry of the log, with the record that it is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FollowedEntry {
    /// The entry.
    pub followed: Followed,
    /// The record, as it is now.
    pub record: FollowedRecord,
}

/// The record that an entry is about, as it is when the page is read: later changes have entries of their own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FollowedRecord {
    /// A take, as the public sees it.
    Take(PublicTake),
    /// A session.
    Session(Arc<Session>),
    /// A member, with what only operators see.
    Member(Arc<Member>),
    /// The entry is about something else, or the record is gone.
    Other,
}

impl Tenant {
    /// Returns up to `limit` entries after this cursor, with their records: at least once each, in their order. At the
    /// end of the log the page is empty. Entries that cannot be read (API.md, 11.4) are left out.
    ///
    /// It neither waits nor changes anything, so it may be dropped at any time.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn follow_log(&self, cursor: Cursor, limit: usize) -> Result<Follow, Error> {
        let rows = log_rows::rows(&self.store, cursor.seq, limit).await;
        // Read after the rows: if it is still this log, so are they.
        let LogPosition { log, .. } = self.store.log_position().await?;
        if log != cursor.log {
            return Ok(Follow::OtherLog { log });
        }
        let rows = rows?;
        let next = rows.last().map_or(cursor.seq, log_rows::seq);
        let readable = || rows.iter().filter_map(|row| row.as_ref().ok());
        let takes = readable().map(|row| match &row.logged {
            Logged::Take(take) => Some(PublicTake::of(take)),
            _ => None,
        });
        let followed = self.followed(readable()).await?;
        let mut reader = RecordReader::new(self);
        let mut entries = Vec::with_capacity(followed.len());
        for (followed, take) in followed.into_iter().zip(takes) {
            let record = reader.record(&followed, take).await?;
            entries.push(FollowedEntry { followed, record });
        }
        Ok(Follow::Page(FollowPage { entries, next: Cursor { log, seq: next } }))
    }
}

/// Reads each record of a page once.
struct RecordReader<'a> {
    tenant: &'a Tenant,
    sessions: HashMap<SessionId, Option<Arc<Session>>>,
    members: HashMap<MemberId, Option<Arc<Member>>>,
}

impl<'a> RecordReader<'a> {
    fn new(tenant: &'a Tenant) -> Self {
        Self { tenant, sessions: HashMap::new(), members: HashMap::new() }
    }

    async fn record(
        &mut self,
        followed: &Followed,
        take: Option<PublicTake>,
    ) -> Result<FollowedRecord, Error> {
        if let Some(take) = take {
            return Ok(FollowedRecord::Take(take));
        }
        let record = match &followed.line.entry {
            LogEntry::Session(act) => {
                self.session(act.session.id).await?.map(FollowedRecord::Session)
            }
            LogEntry::Member(act) => self.member(&act.id).await?.map(FollowedRecord::Member),
            LogEntry::Opening(opening) => self.take(opening.id).await?.map(FollowedRecord::Take),
            LogEntry::TakeMark(mark) => self.take(mark.id).await?.map(FollowedRecord::Take),
            _ => None,
        };
        Ok(record.unwrap_or(FollowedRecord::Other))
    }

    async fn take(&self, id: TakeId) -> Result<Option<PublicTake>, Error> {
        let found = self.tenant.store.take(id).await?;
        Ok(found.map(|found| PublicTake::of(&found.take)))
    }

    async fn session(&mut self, id: SessionId) -> Result<Option<Arc<Session>>, Error> {
        Ok(match self.sessions.entry(id) {
            Entry::Occupied(read) => read.get().clone(),
            Entry::Vacant(unread) => {
                let found = self.tenant.store.session(id).await?;
                unread.insert(found.map(|found| found.record)).clone()
            }
        })
    }

    async fn member(&mut self, id: &MemberId) -> Result<Option<Arc<Member>>, Error> {
        Ok(match self.members.entry(id.clone()) {
            Entry::Occupied(read) => read.get().clone(),
            Entry::Vacant(unread) => {
                let found = self.tenant.store.member(id).await?.member;
                unread.insert(found.map(|found| found.record)).clone()
            }
        })
    }
}
