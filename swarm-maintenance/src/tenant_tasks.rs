//! The tenants that have tasks, and when each is visited again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use swarm_core::{TenantId, Timestamp};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::directory::{Directory, MaintainedTenant};
use crate::job::{Job, Next};

/// Longest time between two visits to a tenant. Another server may have changed it and crashed before announcing it.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Maximum number of tenants whose tasks start in one tick, so that thousands do not query the store at once.
const MAX_NEW_TENANTS: usize = 1_000;

/// How far the store's clock may drift from this server's between two ticks; more means that it was set.
const MAX_DRIFT: Duration = Duration::from_secs(1);

/// The tenants of a directory that have tasks.
pub(crate) struct TenantTasks<D: Directory> {
    directory: Arc<D>,
    /// Each with its last settings, and the sender that wakes its tasks; they end when it is dropped.
    tenants: HashMap<TenantId, (Arc<D::Tenant>, watch::Sender<()>)>,
    /// The last reading of the store's clock, and when it was read.
    clock: Option<(Timestamp, Instant)>,
    max_pause: Duration,
}

/// A tenant, as one of its tasks sees it.
pub(crate) struct TenantTask<D: Directory> {
    directory: Arc<D>,
    id: TenantId,
    changed: watch::Receiver<()>,
    max_pause: Duration,
}

impl<D: Directory> TenantTasks<D> {
    /// Jobs pause for at most `max_pause` between two rounds.
    pub(crate) fn new(directory: Arc<D>, max_pause: Duration) -> Self {
        Self { directory, tenants: HashMap::new(), clock: None, max_pause }
    }

    /// Drops the tenants that are gone, wakes those whose settings have changed, and returns those that are new, at
    /// most [`MAX_NEW_TENANTS`] a tick.
    pub(crate) fn find_new(&mut self) -> Vec<TenantTask<D>> {
        let mut new = Vec::new();
        let served = self.directory.tenants();
        let ids: HashSet<_> = served.iter().map(|tenant| tenant.id()).collect();
        self.tenants.retain(|id, _| ids.contains(id));
        for tenant in &served {
            let id = tenant.id();
            match self.tenants.get_mut(id) {
                Some((known, _)) if Arc::ptr_eq(known, tenant) => {}
                Some((known, wake)) => {
                    *known = Arc::clone(tenant);
                    wake.send_replace(());
                }
                None if new.len() < MAX_NEW_TENANTS => {
                    let (wake, changed) = watch::channel(());
                    self.tenants.insert(id.clone(), (Arc::clone(tenant), wake));
                    new.push(TenantTask {
                        directory: Arc::clone(&self.directory),
                        id: id.clone(),
                        changed,
                        max_pause: self.max_pause,
                    });
                }
                None => {}
            }
        }
        new
    }

    /// Wakes the tenants that have changed. Wakes all of them if the feed does not know which, or if the clock of the
    /// store was set, because scheduled work may be due then.
    pub(crate) async fn notice_changes(&mut self) {
        let Some(feed) = self.directory.changes() else { return };
        let changed = match feed.changes().await {
            Ok(changes) => {
                let was_set = self.was_set(changes.now);
                changes.tenants.filter(|_| !was_set)
            }
            // The jobs report the failing store.
            Err(_) => None,
        };
        let wake = |(_, wake): &(Arc<D::Tenant>, watch::Sender<()>)| wake.send_replace(());
        match changed {
            Some(changed) => changed.iter().filter_map(|id| self.tenants.get(id)).for_each(wake),
            None => self.tenants.values().for_each(wake),
        }
    }

    /// Whether the clock of the store has been set since the last tick.
    fn was_set(&mut self, now: Timestamp) -> bool {
        let asked = Instant::now();
        let before = self.clock.replace((now, asked));
        before.is_some_and(|(before, at)| {
            let passed = i64::try_from((asked - at).as_millis()).unwrap_or(i64::MAX);
            let by_store = now.millis().saturating_sub(before.millis());
            u128::from(by_store.abs_diff(passed)) > MAX_DRIFT.as_millis()
        })
    }
}

impl<D: Directory> Clone for TenantTask<D> {
    fn clone(&self) -> Self {
        Self {
            directory: Arc::clone(&self.directory),
            id: self.id.clone(),
            changed: self.changed.clone(),
            max_pause: self.max_pause,
        }
    }
}

impl<D: Directory> TenantTask<D> {
    /// Returns when the tenant is no longer served, or maintenance stops.
    async fn is_over(&self) {
        let mut changed = self.changed.clone();
        while changed.changed().await.is_ok() {}
    }

    /// Runs round after round of a job while the tenant is served, each with its settings of that moment.
    pub(crate) async fn repeat(mut self, mut job: Box<dyn Job<D::Tenant>>) {
        loop {
            // Before the round: a change from here on wakes the next round, even where this one misses it.
            self.changed.mark_unchanged();
            let Some(tenant) = self.directory.tenant(&self.id) else { return };
            let next = job.round(&tenant).await;
            drop(tenant);
            let pause = job.pause().min(self.max_pause);
            tokio::select! {
                () = sleep(pause) => {}
                () = self.is_over() => return,
            }
            let wait = match next {
                _ if self.directory.changes().is_none() => Duration::ZERO,
                Next::Soon => Duration::ZERO,
                Next::In(time) => time.min(MAX_WAIT).saturating_sub(pause),
                Next::Changed => MAX_WAIT,
            };
            tokio::select! {
                biased;
                changed = self.changed.changed() => if changed.is_err() { return },
                () = sleep(wait) => {}
            }
        }
    }
}
