//! The record layer: the storage port of the service, written once over any [`Backend`].
//!
//! It turns what the service asks for into queries and transactions on [`TABLES`], and rows into records. All guards of the
//! port are here, so that no backend repeats one.

mod acts;
mod commit;
mod commit_id;
mod committee;
mod counts;
mod documents;
mod dry_run;
mod holds;
mod log;
mod members;
mod operator_acts;
mod outbox;
mod records_store;
mod rows;
mod session_row;
mod sessions;
mod tables;
mod takes;
mod transfer;
mod webhooks;

use std::sync::Arc;

use async_trait::async_trait;

use super::backend::{
    Answer, Append, Backend, Check, CommitId, Head, Kind, Query, Reading, Repetition, Write,
};
use super::{
    ChangeFeed, Changes, Clock, CommitteeStore, CommitteeTenants, Log as _, LogPosition, Readiness,
    Result, SeenLog, SeenLogs, Store, StoreError, Tenants, time_of_read,
};
use crate::domain::{OperatorAct, Seq, TenantId, Timestamp, parse_hex};
use crate::proof::hex;

use dry_run::DryRun;
use holds::Holds;
use rows::{Answers, Damage};
pub use tables::TABLES;

/// A store of the service over a [`Backend`], for a process. Clones share what it has seen.
pub struct Records<B> {
    backend: Arc<B>,
    seen: Arc<SeenLogs>,
    holds: Arc<Holds>,
    damage: Damage,
}

impl<B: Backend> Records<B> {
    /// Returns a store of records in this backend, which has the [`TABLES`].
    pub fn new(backend: B) -> Self {
        let (seen, holds, damage) = (Arc::default(), Arc::default(), Damage::default());
        Self { backend: Arc::new(backend), seen, holds, damage }
    }

    /// Returns the backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Returns the same records as opened by another process, which has seen nothing of them yet.
    #[must_use]
    pub fn opened_again(&self) -> Self {
        let (seen, holds, damage) = (Arc::default(), Arc::default(), Damage::default());
        Self { backend: Arc::clone(&self.backend), seen, holds, damage }
    }

    fn tenant(&self, tenant: &TenantId) -> TenantRecords<B> {
        TenantRecords {
            backend: Arc::clone(&self.backend),
            tenant: tenant.clone(),
            seen: self.seen.of(tenant),
            holds: Arc::clone(&self.holds),
            damage: self.damage.clone(),
            is_dry_run: false,
        }
    }

    /// A tenant's records for a dry run, which has seen what this process has.
    fn dry_run(&self, tenant: &TenantId) -> TenantRecords<DryRun<B>> {
        TenantRecords {
            backend: Arc::new(DryRun::new(Arc::clone(&self.backend))),
            tenant: tenant.clone(),
            seen: Arc::new(SeenLog::at(self.seen.of(tenant).position())),
            holds: Arc::default(),
            damage: self.damage.clone(),
            is_dry_run: true,
        }
    }
}

impl<B> Clone for Records<B> {
    fn clone(&self) -> Self {
        let Self { backend, seen, holds, damage } = self;
        let (seen, holds, damage) = (Arc::clone(seen), Arc::clone(holds), damage.clone());
        Self { backend: Arc::clone(backend), seen, holds, damage }
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

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(self.dry_run(tenant))
    }

    async fn ready(&self) -> Result<Readiness> {
        let mut readiness = self.backend.ready().await?;
        if self.damage.is_found() {
            readiness.warnings.push("a stored record is garbled: the log says which".to_owned());
        }
        let may_commit = |tenant| async move { self.tenant(&tenant).may_commit().await };
        self.seen.check(may_commit).await?;
        Ok(readiness)
    }
}

impl<B: Backend> CommitteeTenants for Records<B> {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.tenant(tenant))
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.dry_run(tenant))
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
    damage: Damage,
    is_dry_run: bool,
}

/// What a commit did, for the method that made it.
enum Made {
    /// It was made; with the number of its entry, if it has one and the store said which.
    Now(super::backend::Assigned, Option<Seq>),
    /// It had been made before: the record that shows it.
    Before(super::backend::Row),
    /// This check was not met; the record that [`Check::None`] found.
    Unmet(usize, Option<super::backend::Row>),
}

impl<B: Backend> TenantRecords<B> {
    async fn read(&self, op: &'static str, queries: Vec<Query>) -> Result<Answers> {
        let reading = self.backend.read(&self.tenant, op, queries).await?;
        Ok(Answers::new(op, reading.answers, &self.damage))
    }

    /// Reads facts for a judgement: an error when the log went back.
    async fn facts(&self, op: &'static str, queries: Vec<Query>) -> Result<Reading> {
        let (reading, goes_on) = self.compared(op, queries).await?;
        self.seen.note(goes_on)?;
        Ok(reading)
    }

    /// Reads, and compares the log with the position that was seen.
    async fn compared(
        &self,
        op: &'static str,
        mut queries: Vec<Query>,
    ) -> Result<(Reading, Result<()>)> {
        let seen = head_of(&self.seen.position());
        queries.extend(seen.compared().map(Query::CommitOf));
        let mut reading = self.backend.read(&self.tenant, op, queries).await?;
        let commit = match seen.compared().and_then(|_| reading.answers.pop()) {
            Some(Answer::Commit(commit)) => commit,
            _ => None,
        };
        let goes_on = match seen.continues(reading.head.log, commit) {
            true => Ok(()),
            false => Err(StoreError::went_back("commit")),
        };
        Ok((reading, goes_on))
    }

    /// Returns the position of the log. Commits go on from there, if it continues the one that was seen.
    async fn position(&self, op: &'static str) -> Result<LogPosition> {
        let (reading, goes_on) = self.compared(op, Vec::new()).await?;
        let position = position_of(&reading.head);
        if self.seen.note(goes_on).is_ok() {
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
    /// Whether this process reports the tenant as changed although the kind is one that no feed announces.
    wakes: bool,
    /// The act of an operator, if the log does not have it.
    operator_act: Option<OperatorAct>,
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
            wakes: false,
            operator_act: None,
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

/// The position of the end of a log, whose fingerprint is the identity of its last commit in hexadecimal digits.
fn position_of(head: &Head) -> LogPosition {
    let last = head.commit.map(|commit| hex(&commit.0)).unwrap_or_default();
    LogPosition { log: head.log, size: head.size, last: last.into() }
}

/// The end of the log at this position. A fingerprint that no entry has gives an identity that no commit has.
fn head_of(position: &LogPosition) -> Head {
    let id = parse_hex(&position.last).unwrap_or_default();
    Head { log: position.log, size: position.size, at: None, commit: Some(CommitId(id)) }
}

/// An outcome that no check of a transaction explains.
fn unexpected(op: &'static str, check: usize) -> StoreError {
    StoreError::corrupt(
        op,
        format!("the store reports check {check}, which is not one of the commit"),
    )
}
