//! Group commit: the takes of a tenant that wait are filed together, in one call and one transaction.
//!
//! The wait for the disk is most of what a commit takes, and the call is much of what it costs. The next call is
//! sent while the one before is in progress, so that the database need not wait for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swarm_core::TenantId;
use swarm_core::rules::Filing;
use swarm_core::store::{Filed, Result};
use tokio::sync::{Semaphore, oneshot};

/// Calls in progress at the same time, for one tenant.
const MAX_CALLS: usize = 2;

/// Takes in one call.
const MAX_BATCH: usize = 64;

/// Other commits in progress at the same time, for one tenant. They wait for each other in the database; without a limit
/// they would hold all connections of the pool meanwhile.
const MAX_COMMITS: usize = 2;

/// What the handles of each tenant share.
#[derive(Debug, Default)]
pub(crate) struct SharedByTenant(Mutex<HashMap<TenantId, Arc<Shared>>>);

impl SharedByTenant {
    pub(crate) fn of(&self, tenant: &TenantId) -> Arc<Shared> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(tenant.clone()).or_default())
    }
}

/// What the handles of one tenant share.
#[derive(Debug)]
pub(crate) struct Shared {
    group: Mutex<Group>,
    /// A permit for each commit that is not a filing.
    pub(crate) commits: Semaphore,
}

impl Default for Shared {
    fn default() -> Self {
        Self { group: Mutex::default(), commits: Semaphore::new(MAX_COMMITS) }
    }
}

/// The takes that wait, and the number of [`Calls`] in progress.
#[derive(Debug, Default)]
struct Group {
    waiting: VecDeque<WaitingTake>,
    calls: usize,
}

/// A take that waits to be filed.
#[derive(Debug)]
pub(crate) struct WaitingTake {
    pub(crate) filing: Filing,
    /// The number of the log that it was judged by, if one was seen.
    pub(crate) log: Option<u64>,
    /// Receives the outcome. If it is dropped, the outcome is unknown.
    pub(crate) caller: oneshot::Sender<Result<Filed>>,
}

/// A sequence of calls, one after another until no take is waiting.
pub(crate) struct Calls {
    shared: Arc<Shared>,
    have_ended: bool,
}

impl Shared {
    /// Adds a take. Returns the [`Calls`] that the caller must make, unless enough others are in progress.
    pub(crate) fn add(self: &Arc<Self>, take: WaitingTake) -> Option<Calls> {
        let mut group = self.lock();
        group.waiting.push_back(take);
        let starts = group.calls < MAX_CALLS;
        group.calls += usize::from(starts);
        starts.then(|| Calls { shared: Arc::clone(self), have_ended: false })
    }

    fn lock(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// The takes of the next call, oldest first. Empty when none is waiting, which ends the sequence. Skips takes whose
    /// caller is gone.
    pub(crate) fn next(&mut self) -> Vec<WaitingTake> {
        let mut group = self.shared.lock();
        let mut takes = Vec::new();
        while takes.len() < MAX_BATCH {
            let Some(take) = group.waiting.pop_front() else { break };
            if !take.caller.is_closed() {
                takes.push(take);
            }
        }
        if takes.is_empty() {
            group.calls -= 1;
            self.have_ended = true;
        }
        takes
    }
}

impl Drop for Calls {
    /// If the sequence is cancelled and no other is in progress, drops the takes that wait: their callers file them
    /// alone.
    fn drop(&mut self) {
        if self.have_ended {
            return;
        }
        let mut group = self.shared.lock();
        group.calls -= 1;
        if group.calls == 0 {
            group.waiting.clear();
        }
    }
}
