//! The log positions that a process has seen, to detect a store that lost data.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::backend::CommitId;
use super::{Result, StoreErrorKind};
use crate::domain::{Seq, TenantId};

/// The position of a tenant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the log: 1 at first, and one more each time an operator accepts the store.
    pub log: u64,
    /// The number of the last row; 0 while there is none.
    pub size: Seq,
    /// The commit that appended the last row. It distinguishes rows with the same number. `None` while there is no row.
    pub commit: Option<CommitId>,
}

impl Default for LogPosition {
    /// The position of an empty log.
    fn default() -> Self {
        Self { log: 1, size: Seq(0), commit: None }
    }
}

/// Distinguishes the logs that a process sees under the name of one tenant: those that begin when an operator accepts the store, and
/// the one that begins after the tenant was removed. Versions of records and numbers of entries begin again in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogIdentity {
    /// The number of the [`SeenLog`].
    seen: u64,
    /// The number of the log.
    log: u64,
}

/// The position that a process has seen of one tenant's log. Its commits must continue from there,
/// so that a store that was wiped, restored from a backup or failed over does not silently lose
/// records (API.md, 11.4).
#[derive(Debug)]
pub struct SeenLog {
    /// No other in this process has it.
    number: u64,
    position: Mutex<LogPosition>,
    is_blocked: AtomicBool,
    has_changed: AtomicBool,
    is_set_aside: AtomicBool,
}

impl Default for SeenLog {
    /// What a process has seen of a log that it has not looked at yet.
    fn default() -> Self {
        Self::at(LogPosition::default())
    }
}

impl SeenLog {
    /// What a process has seen that has seen this position.
    pub(super) fn at(position: LogPosition) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            position: Mutex::new(position),
            is_blocked: AtomicBool::default(),
            has_changed: AtomicBool::default(),
            is_set_aside: AtomicBool::default(),
        }
    }

    /// Returns which log this is.
    pub fn identity(&self) -> LogIdentity {
        LogIdentity { seen: self.number, log: self.lock().log }
    }

    /// Returns the last position seen.
    pub fn position(&self) -> LogPosition {
        self.lock().clone()
    }

    /// Records a position, unless a later one was seen already. Called with the position after a commit, and with one that a read
    /// found if it continues the one seen. After a commit that failed with [`StoreErrorKind::Contended`], the position is read and
    /// recorded, because a new log may have begun.
    pub fn advance(&self, to: LogPosition) {
        let mut seen = self.lock();
        if (to.log, to.size) > (seen.log, seen.size) {
            *seen = to;
        }
    }

    /// Blocks the tenant as one whose log went back. From now on, commits are compared with a commit that
    /// no row has, until a log with a higher number begins. Does nothing if a log with a higher number than
    /// `log` was seen already.
    pub fn mark_went_back(&self, log: u64, size: Seq) {
        let mut seen = self.lock();
        if log >= seen.log {
            let size = size.max(seen.size).max(Seq(1));
            *seen = LogPosition { log, size, commit: Some(CommitId::NONE) };
            self.is_blocked.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the outcome of a commit or a check unchanged. If it says that the tenant may not commit, marks
    /// the tenant as blocked.
    pub fn note<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.as_ref().is_err_and(|error| blocks(error.kind())) {
            self.is_blocked.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Begins a commit. When the returned guard is dropped, the tenant is marked as changed, even
    /// if the outcome is unknown. For [`Store::changes`](super::Store::changes).
    pub fn changing(&self) -> Changing<'_> {
        Changing(self)
    }

    fn lock(&self) -> MutexGuard<'_, LogPosition> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit in progress.
#[derive(Debug)]
#[must_use]
pub struct Changing<'a>(&'a SeenLog);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.has_changed.store(true, Ordering::Relaxed);
    }
}

fn blocks(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::ClockBehind | StoreErrorKind::WentBack)
}

/// The log positions that a process has seen, of all tenants.
#[derive(Debug, Default)]
pub struct SeenLogs(Mutex<BTreeMap<TenantId, Arc<SeenLog>>>);

impl SeenLogs {
    /// Returns the log of this tenant.
    pub fn of(&self, tenant: &TenantId) -> Arc<SeenLog> {
        let mut all = self.lock();
        let seen = all.entry(tenant.clone()).or_default();
        seen.is_set_aside.store(false, Ordering::Relaxed);
        Arc::clone(seen)
    }

    /// Leaves a tenant out of [`check`](Self::check) until its log is [asked for](Self::of) again. What was seen of it is kept.
    pub fn set_aside(&self, tenant: &TenantId) {
        if let Some(seen) = self.lock().get(tenant) {
            seen.is_set_aside.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets a tenant. Handles that were opened before keep what they have seen.
    pub fn forget(&self, tenant: &TenantId) {
        self.lock().remove(tenant);
    }

    /// Returns the tenants with commits since the last call.
    pub fn take_changed(&self) -> Vec<TenantId> {
        let seen = self.lock();
        let changed =
            seen.iter().filter(|(_, seen)| seen.has_changed.swap(false, Ordering::Relaxed));
        changed.map(|(tenant, _)| tenant.clone()).collect()
    }

    /// Rechecks all blocked tenants and one other, as a sample: a failure of the whole store shows
    /// in any tenant. Those that are [set aside](Self::set_aside) do not count. Used by [`Store::ready`](super::Store::ready).
    ///
    /// # Errors
    /// The error of the first tenant that may not commit, which names the tenant if the store answered.
    pub async fn check<F>(&self, may_commit: impl Fn(TenantId, Arc<SeenLog>) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        let is_blocked = |seen: &SeenLog| seen.is_blocked.load(Ordering::Relaxed);
        let mut seen: Vec<_> = self.lock().clone().into_iter().collect();
        seen.retain(|(_, seen)| !seen.is_set_aside.load(Ordering::Relaxed));
        let (blocked, free): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|(_, seen)| is_blocked(seen));
        let sample = free.into_iter().find(|(_, seen)| seen.position().size > Seq(0));
        for (tenant, seen) in blocked.into_iter().chain(sample) {
            let may_commit = seen.note(may_commit(tenant.clone(), Arc::clone(&seen)).await);
            may_commit.map_err(|error| match blocks(error.kind()) {
                true => error.of_tenant(&tenant),
                false => error,
            })?;
            seen.is_blocked.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TenantId, Arc<SeenLog>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
