//! The record layer: the storage port of the service, written once over any [`Backend`].
//!
//! It turns what the service asks for into queries and transactions on [`TABLES`], and rows into records. All guards of the
//! port are here, so that no backend repeats one.

mod acts;
mod committee;
mod counts;
mod documents;
mod holds;
mod log;
mod members;
mod outbox;
mod rows;
mod sessions;
mod tables;
mod takes;
mod transfer;

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::backend::{
    Answer, Append, Backend, Check, CommitId, Decision, Head, Kind, Outcome, Query, Reading,
    Repetition, Transaction, Write,
};
use super::{
    ChangeFeed, Changes, Clock, CommitteeStore, CommitteeTenants, LogPosition, Readiness, Result,
    SeenLog, SeenLogs, Store, StoreError, Tenants, time_of_commit, time_of_read,
};
use crate::domain::{Seq, TenantId, Timestamp};

use holds::Holds;
use rows::Answers;
pub use tables::TABLES;

/// A store of the service over a [`Backend`], for a process. Clones share what it has seen.
pub struct Records<B> {
    backend: Arc<B>,
    seen: Arc<SeenLogs>,
    holds: Arc<Holds>,
}

impl<B: Backend> Records<B> {
    /// Returns a store of records in this backend, which has the [`TABLES`].
    pub fn new(backend: B) -> Self {
        Self { backend: Arc::new(backend), seen: Arc::default(), holds: Arc::default() }
    }

    /// Returns the backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Returns the same records as opened by another process, which has seen nothing of them yet.
    #[must_use]
    pub fn opened_again(&self) -> Self {
        Self { backend: Arc::clone(&self.backend), seen: Arc::default(), holds: Arc::default() }
    }

    fn tenant(&self, tenant: &TenantId) -> TenantRecords<B> {
        TenantRecords {
            backend: Arc::clone(&self.backend),
            tenant: tenant.clone(),
            seen: self.seen.of(tenant),
            holds: Arc::clone(&self.holds),
        }
    }
}

impl<B> Clone for Records<B> {
    fn clone(&self) -> Self {
        let Self { backend, seen, holds } = self;
        Self { backend: Arc::clone(backend), seen: Arc::clone(seen), holds: Arc::clone(holds) }
    }
}

impl<B> std::fmt::Debug for Records<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

#[async_trait]
impl<B: Backend> Tenants for Records<B> {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(self.tenant(tenant))
    }

    async fn ready(&self) -> Result<Readiness> {
        let readiness = self.backend.ready().await?;
        let may_commit = |tenant| async move {
            let reading = self.tenant(&tenant).facts("ready", Vec::new()).await?;
            time_of_commit(reading.clock, reading.head.at).map(drop)
        };
        self.seen.check(may_commit).await?;
        Ok(readiness)
    }
}

impl<B: Backend> CommitteeTenants for Records<B> {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.tenant(tenant))
    }
}

#[async_trait]
impl<B: Backend> ChangeFeed for Records<B> {
    async fn changes(&self) -> Result<Changes> {
        let others = self.backend.changes().await?;
        let own = self.seen.take_changed();
        let tenants = others.tenants.map(|mut tenants| {
            // A backend may name those that this process changed, too.
            tenants.extend(own);
            tenants.sort_unstable();
            tenants.dedup();
            tenants
        });
        Ok(Changes { now: others.now, tenants })
    }
}

/// The records of one tenant.
struct TenantRecords<B> {
    backend: Arc<B>,
    tenant: TenantId,
    seen: Arc<SeenLog>,
    holds: Arc<Holds>,
}

/// What a commit did, for the method that made it.
enum Made {
    /// It was made.
    Now(super::backend::Assigned),
    /// It had been made before: the record that shows it.
    Before(super::backend::Row),
    /// This check was not met; the record that [`Check::None`] found.
    Unmet(usize, Option<super::backend::Row>),
}

impl<B: Backend> TenantRecords<B> {
    async fn read(&self, op: &'static str, queries: Vec<Query>) -> Result<Answers> {
        let reading = self.backend.read(&self.tenant, op, queries).await?;
        Ok(Answers::new(op, reading.answers))
    }

    /// Reads facts for a judgement: an error when the log went back.
    async fn facts(&self, op: &'static str, mut queries: Vec<Query>) -> Result<Reading> {
        let seen = self.seen.position();
        let is_compared = seen.size > Seq(0);
        if is_compared {
            queries.push(Query::CommitOf(seen.size));
        }
        let mut reading = self.backend.read(&self.tenant, op, queries).await?;
        if is_compared {
            let commit = match reading.answers.pop() {
                Some(Answer::Commit(commit)) => commit,
                _ => None,
            };
            let row = commit.map(fingerprint);
            self.seen.note(seen.check_facts(reading.head.log, row.as_deref()))?;
        }
        Ok(reading)
    }

    /// Commits changes. After an error, they may be committed.
    async fn commit(&self, op: &'static str, change: Change) -> Result<Made> {
        let kind = change.kind;
        let seen = head_of(&self.seen.position());
        let transaction = Transaction {
            id: change.id.unwrap_or_else(new_id),
            kind,
            seen,
            repetition: change.repetition,
            checks: change.checks,
            sequences: change.sequences,
            writes: change.writes,
            entries: change.entries,
            erases: change.erases,
        };
        let changing = (kind != Kind::Aside).then(|| self.seen.changing());
        let outcome = self.backend.commit(&self.tenant, op, transaction).await;
        drop(changing);
        let Outcome { head, decision } = match self.seen.note(outcome) {
            Ok(outcome) => outcome,
            Err(error) => {
                if error.is_contended() {
                    // Another log may have begun.
                    self.position(op).await?;
                }
                return Err(error);
            }
        };
        if kind != Kind::Aside {
            self.seen.advance(position_of(&head));
        }
        Ok(match decision {
            Decision::Committed(assigned) => Made::Now(assigned),
            Decision::Repeated(row) => Made::Before(row),
            Decision::Failed { check, found } => Made::Unmet(check, found),
        })
    }

    /// Returns the position of the log. Commits go on from there, if it continues the one that was seen.
    async fn position(&self, op: &'static str) -> Result<LogPosition> {
        let seen = self.seen.position();
        let queries = match seen.size {
            Seq(0) => Vec::new(),
            size => vec![Query::CommitOf(size)],
        };
        let reading = self.backend.read(&self.tenant, op, queries).await?;
        let commit = match reading.answers.first() {
            Some(Answer::Commit(commit)) => *commit,
            _ => None,
        };
        let position = position_of(&reading.head);
        let row = commit.map(fingerprint);
        if self.seen.note(seen.check_facts(reading.head.log, row.as_deref())).is_ok() {
            self.seen.advance(position.clone());
        }
        Ok(position)
    }
}

/// The changes of a transaction.
struct Change {
    kind: Kind,
    id: Option<CommitId>,
    repetition: Option<Repetition>,
    checks: Vec<Check>,
    sequences: Vec<&'static str>,
    writes: Vec<Write>,
    entries: Vec<Append>,
    erases: bool,
}

impl Change {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            id: None,
            repetition: None,
            checks: Vec::new(),
            sequences: Vec::new(),
            writes: Vec::new(),
            entries: Vec::new(),
            erases: false,
        }
    }
}

impl Default for Change {
    fn default() -> Self {
        Self::new(Kind::Usual)
    }
}

#[async_trait]
impl<B: Backend> Clock for TenantRecords<B> {
    async fn now(&self) -> Result<Timestamp> {
        let reading = self.backend.read(&self.tenant, "now", Vec::new()).await?;
        Ok(time_of_read(reading.clock, reading.head.at))
    }
}

/// The identity of a transaction that is sent once: it need not be unpredictable, but no other has it.
fn new_id() -> CommitId {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut id = [0; 16];
    let (first, second) = id.split_at_mut(8);
    // Each `RandomState` hashes with keys of its own.
    first.copy_from_slice(&RandomState::new().hash_one(number).to_be_bytes());
    second.copy_from_slice(&RandomState::new().hash_one(number).to_be_bytes());
    CommitId(id)
}

/// The fingerprint of an entry in [`LogPosition`]: the identity of its commit, in hexadecimal digits.
fn fingerprint(commit: CommitId) -> String {
    let mut text = String::with_capacity(32);
    for byte in commit.0 {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn position_of(head: &Head) -> LogPosition {
    let last = head.commit.map(fingerprint).unwrap_or_default();
    LogPosition { log: head.log, size: head.size, last: last.into() }
}

/// The end of the log at this position. A fingerprint that no entry has gives an identity that no commit has.
fn head_of(position: &LogPosition) -> Head {
    let digit =
        |at: usize| position.last.get(at..at + 2).and_then(|it| u8::from_str_radix(it, 16).ok());
    let mut id = [0; 16];
    for (place, byte) in id.iter_mut().enumerate() {
        let Some(digits) = digit(place * 2) else {
            id = [0; 16];
            break;
        };
        *byte = digits;
    }
    Head { log: position.log, size: position.size, at: None, commit: Some(CommitId(id)) }
}

/// An outcome that no check of a transaction explains.
fn unexpected(op: &'static str, check: usize) -> StoreError {
    StoreError::corrupt(
        op,
        format!("the store reports check {check}, which is not one of the commit"),
    )
}
