//! The record layer: what the service stores, written once over any [`Backend`].
//!
//! It turns what the service asks for into queries and transactions on [`TABLES`], and rows into records. All guards are here, so that no
//! backend repeats one.

mod acts;
mod commit;
mod commit_id;
#[cfg(feature = "committee")]
mod committee;
mod committee_rows;
mod counts;
mod documents;
mod dry_run;
mod holds;
mod log;
mod members;
mod operator_acts;
mod outbox;
mod rows;
mod session_row;
mod sessions;
mod tables;
mod takes;
mod transfer;
mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::backend::{
    Answer, Append, Backend, Check, CommitId, Head, Kind, Query, Reading, Repetition, Value, Write,
};
use super::interceptor::intercepted;
use super::{
    Changes, Interceptor, LogPosition, Readiness, Result, SeenLog, SeenLogs, StoreError,
    time_of_read,
};
use crate::domain::{OperatorAct, Seq, TenantId, Timestamp};

pub use counts::Countable;
use dry_run::DryRun;
use holds::Holds;
use rows::{Answers, Damage};
pub use tables::TABLES;
pub use transfer::{Dump, Restore};

/// A store: the records of all tenants in a [`Backend`], for a process.
///
/// Clones share what the process has seen of each log, so open a backend once, and give a clone to each service. Dropping the
/// future of a method may leave a commit made or not, whole.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenLogs>,
    holds: Arc<Holds>,
    damage: Damage,
}

impl Store {
    /// Returns a store of the records in this backend, which has the [`TABLES`].
    pub fn new(backend: impl Backend) -> Self {
        Self::over(Arc::new(backend))
    }

    /// As [`new`](Self::new), for a backend that is shared.
    pub fn over(backend: Arc<dyn Backend>) -> Self {
        let (seen, holds, damage) = (Arc::default(), Arc::default(), Damage::default());
        Self { backend, seen, holds, damage }
    }

    /// Returns the same store with an interceptor in front of it, for all tenants. What the process has seen stays shared with the
    /// store without it.
    #[must_use]
    pub fn intercepted(&self, interceptor: Arc<impl Interceptor>) -> Self {
        Self { backend: intercepted(&self.backend, interceptor), ..self.clone() }
    }

    /// Returns the same records as opened by another process, which has seen nothing of them yet.
    #[must_use]
    pub fn opened_again(&self) -> Self {
        Self::over(Arc::clone(&self.backend))
    }

    /// Returns a tenant's records. It is cheap and does no I/O. No method of [`Records`] takes a tenant, so none can omit it. Tenants
    /// share nothing, not even the sequences of ids.
    pub fn open(&self, tenant: &TenantId) -> Records {
        self.records(tenant, self.seen.of(tenant))
    }

    fn records(&self, tenant: &TenantId, seen: Arc<SeenLog>) -> Records {
        Records {
            backend: Arc::clone(&self.backend),
            tenant: tenant.clone(),
            seen,
            holds: Arc::clone(&self.holds),
            damage: self.damage.clone(),
            is_dry_run: false,
            last_entry: None,
        }
    }

    /// Checks that the store answers, and that it can be trusted. It is not ready while a tenant may not commit because the clock is
    /// too far behind its log, or because that log went back: see [`SeenLogs`]. It writes nothing, and advances no position.
    ///
    /// # Errors
    /// The errors of the store; the first reason why it is not ready.
    pub async fn ready(&self) -> Result<Readiness> {
        let mut readiness = self.backend.ready().await?;
        if self.damage.is_found() {
            readiness.warnings.push("a stored record is garbled: the log says which".to_owned());
        }
        let may_commit =
            |tenant: TenantId, seen| async move { self.records(&tenant, seen).may_commit().await };
        self.seen.check(may_commit).await?;
        Ok(readiness)
    }

    /// Returns which tenants have changed since the last call, by any process. It serves a single caller. A store that is opened twice
    /// has two feeds.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn changes(&self) -> Result<Changes> {
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

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The records of one tenant: what the service reads, and the changes that it commits. They compare facts and contain no rule.
///
/// `Ok` means that the store answered, `Err` that it could not. A lost race is an outcome, not an error. After an error, a commit may
/// have been made. A limit of a query may be anything up to `usize::MAX`.
#[derive(Clone)]
pub struct Records {
    backend: Arc<dyn Backend>,
    tenant: TenantId,
    seen: Arc<SeenLog>,
    holds: Arc<Holds>,
    damage: Damage,
    is_dry_run: bool,
    /// The number of the last entry that a commit of this handle appended, for one that notes it.
    last_entry: Option<Arc<AtomicU64>>,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("tenant", &self.tenant).finish_non_exhaustive()
    }
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

impl Records {
    /// Returns the same records for a dry run: a commit is judged and answered as by these, and nothing is written. The numbers that it
    /// would assign are 0.
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            backend: intercepted(&self.backend, Arc::new(DryRun::default())),
            seen: Arc::new(SeenLog::at(self.seen.position())),
            holds: Arc::default(),
            is_dry_run: true,
            ..self.clone()
        }
    }

    /// Returns a handle that notes the number of the last entry which a commit of it or its clones appends.
    pub(crate) fn noting_entries(&self) -> Self {
        Self { last_entry: Some(Arc::default()), ..self.clone() }
    }

    /// Returns the number that was [noted](Self::noting_entries); `None` if no commit appended an entry, or the store did not say which.
    pub(crate) fn last_entry(&self) -> Option<Seq> {
        let noted = self.last_entry.as_ref()?.load(Ordering::Relaxed);
        (noted > 0).then_some(Seq(noted))
    }

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
        let seen = head_of(self.seen.position());
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

    /// The time by the clock that commits use, the only one that counts. A commit that depends on it reads it once, inside its critical
    /// section, so the time that a commit waits counts towards its deadline.
    pub async fn now(&self) -> Result<Timestamp> {
        let reading = self.backend.read(&self.tenant, "now", Vec::new()).await?;
        Ok(time_of_read(reading.clock, reading.head.at))
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
    /// The event of a filing, whose entry refers to the record.
    filed: Option<&'static str>,
    /// The id of the member that it is about, where neither the entries nor the act of an operator says so.
    member: Option<Value>,
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
            filed: None,
            member: None,
        }
    }
}

impl Default for Change {
    fn default() -> Self {
        Self::new(Kind::Usual)
    }
}

fn position_of(head: &Head) -> LogPosition {
    LogPosition { log: head.log, size: head.size, commit: head.commit }
}

fn head_of(LogPosition { log, size, commit }: LogPosition) -> Head {
    Head { log, size, at: None, commit }
}

/// An outcome that no check of a transaction explains.
fn unexpected(op: &'static str, check: usize) -> StoreError {
    StoreError::corrupt(
        op,
        format!("the store reports check {check}, which is not one of the commit"),
    )
}
