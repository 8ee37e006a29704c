//! What a process has seen of the logs of its tenants, and which of them may not commit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Result, StoreError, StoreErrorKind};
use crate::domain::{Seq, TenantId};

/// Where a tenant's log stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// Which log of the tenant it is: the first, or the one that began when an operator accepted the
    /// store for the first time, the second time, …
    pub log: u64,
    /// The number of the last row; 0 while there is none.
    pub size: Seq,
    /// What tells the last row from others that could have its number: a text that the store makes
    /// of it, of at most some hundred bytes. Empty while there is none.
    pub last: Arc<str>,
}

impl Default for LogPosition {
    /// Where a log stands that nobody has written to.
    fn default() -> Self {
        Self { log: 1, size: Seq(0), last: Arc::from("") }
    }
}

impl LogPosition {
    /// Checks, inside a commit, that this is the same log, and goes on from here: its row of the
    /// number [`size`](Self::size), if there is one, is that which was the last then.
    ///
    /// # Errors
    /// [`StoreErrorKind::WentBack`] when it does not: nothing may be committed then.
    /// [`StoreErrorKind::Contended`] when another log has begun: what was judged by the facts of the
    /// one before is judged again.
    pub fn check_commit(&self, log: u64, row: Option<&str>) -> Result<()> {
        if self.size > Seq(0) && log > self.log {
            return Err(StoreError::contended("commit", "another log has begun"));
        }
        self.check_facts(log, row)
    }

    /// Checks, where facts are read to be judged by, that a log goes on from here, be it in another
    /// that has begun since.
    ///
    /// # Errors
    /// [`StoreErrorKind::WentBack`] when it does not.
    pub fn check_facts(&self, log: u64, row: Option<&str>) -> Result<()> {
        let is_same = log == self.log && row == Some(&*self.last);
        if self.size == Seq(0) || log > self.log || is_same {
            return Ok(());
        }
        Err(StoreError::went_back("commit"))
    }
}

/// What a process has seen of one tenant's log. Its commits are held to it: a store that was wiped,
/// restored from a backup or failed over is not to go on as if nothing had happened (API.md, 11.4).
#[derive(Debug, Default)]
pub struct SeenLog {
    position: Mutex<LogPosition>,
    is_blocked: AtomicBool,
    has_changed: AtomicBool,
}

impl SeenLog {
    /// Where the log stood when it was seen last.
    pub fn position(&self) -> LogPosition {
        self.lock().clone()
    }

    /// Remembers that the log stands here, unless it was seen further already.
    pub fn advance(&self, to: LogPosition) {
        let mut seen = self.lock();
        if (to.log, to.size) > (seen.log, seen.size) {
            *seen = to;
        }
    }

    /// Passes on the outcome of a commit or a check, and remembers whether it says that the tenant
    /// may not commit.
    pub fn note<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.as_ref().is_err_and(|error| blocks(error.kind())) {
            self.is_blocked.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// A commit begins: when what this returns is dropped, the tenant counts as changed, whether the
    /// outcome is known or not. For a store that is a [`ChangeFeed`](super::ChangeFeed).
    pub fn changing(&self) -> Changing<'_> {
        Changing(self)
    }

    fn lock(&self) -> MutexGuard<'_, LogPosition> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit that is under way.
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

/// What a process has seen of the logs of all its tenants.
#[derive(Debug, Default)]
pub struct SeenLogs(Mutex<BTreeMap<TenantId, Arc<SeenLog>>>);

impl SeenLogs {
    /// What was seen of this tenant's.
    pub fn of(&self, tenant: &TenantId) -> Arc<SeenLog> {
        Arc::clone(self.lock().entry(tenant.clone()).or_default())
    }

    /// The tenants with commits since this was called last.
    pub fn take_changed(&self) -> Vec<TenantId> {
        let seen = self.lock();
        let changed =
            seen.iter().filter(|(_, seen)| seen.has_changed.swap(false, Ordering::Relaxed));
        changed.map(|(tenant, _)| tenant.clone()).collect()
    }

    /// Asks for each tenant that could not commit whether it may now; and for one of the others,
    /// since what befalls a store as a whole befalls any of them. For
    /// [`ready`](super::Tenants::ready), which names the cause.
    ///
    /// # Errors
    /// What the first one ends with that may not.
    pub async fn check<F>(&self, may_commit: impl Fn(TenantId) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>>,
    {
        let is_blocked = |seen: &SeenLog| seen.is_blocked.load(Ordering::Relaxed);
        let seen: Vec<_> = self.lock().clone().into_iter().collect();
        let (blocked, free): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|(_, seen)| is_blocked(seen));
        let sample = free.into_iter().find(|(_, seen)| seen.position().size > Seq(0));
        for (tenant, seen) in blocked.into_iter().chain(sample) {
            seen.note(may_commit(tenant).await)?;
            seen.is_blocked.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TenantId, Arc<SeenLog>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
