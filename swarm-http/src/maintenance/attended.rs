//! The tenants that are looked after, and when it is their turn again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use swarm_core::{TenantId, Timestamp};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::job::{Job, Next, PAUSE};
use crate::Site;
use crate::tenants::ServedTenant;

/// After this time at the latest it is a tenant's turn, though nothing has been heard of it: another
/// server may have changed it and failed before it could say so.
const LOOK_AGAIN: Duration = Duration::from_secs(600);

/// How many tenants begin in a tick, so that a store is not asked for all of thousands at once.
const BEGIN_AT_ONCE: usize = 1_000;

/// By how much the store's clock may go faster or slower than this server's from tick to tick.
const DRIFT: Duration = Duration::from_secs(1);

/// The tenants of a site that are looked after.
pub(super) struct Attended {
    site: Arc<Site>,
    /// Each with the settings that it had last, and with what wakes its tasks, which end when that
    /// is dropped.
    tenants: HashMap<TenantId, (Arc<ServedTenant>, watch::Sender<()>)>,
    /// The time of the store, and when it was that.
    clock: Option<(Timestamp, Instant)>,
}

/// A tenant, as one of its tasks looks after it.
#[derive(Clone)]
pub(super) struct AttendedTenant {
    site: Arc<Site>,
    id: TenantId,
    changed: watch::Receiver<()>,
}

impl Attended {
    pub(super) fn new(site: Arc<Site>) -> Self {
        Self { site, tenants: HashMap::new(), clock: None }
    }

    /// Forgets the tenants that are gone, wakes those whose settings have changed, and answers those
    /// that are new; where they are many, they come tick by tick.
    pub(super) fn find_new(&mut self) -> Vec<AttendedTenant> {
        let mut new = Vec::new();
        let served = self.site.tenants();
        let ids: HashSet<_> = served.iter().map(|tenant| &tenant.config().id).collect();
        self.tenants.retain(|id, _| ids.contains(id));
        for tenant in &served {
            let id = &tenant.config().id;
            match self.tenants.get_mut(id) {
                Some((known, _)) if Arc::ptr_eq(known, tenant) => {}
                Some((known, wake)) => {
                    *known = Arc::clone(tenant);
                    wake.send_replace(());
                }
                None if new.len() < BEGIN_AT_ONCE => {
                    let (wake, changed) = watch::channel(());
                    self.tenants.insert(id.clone(), (Arc::clone(tenant), wake));
                    new.push(AttendedTenant {
                        site: Arc::clone(&self.site),
                        id: id.clone(),
                        changed,
                    });
                }
                None => {}
            }
        }
        new
    }

    /// Wakes the tenants that have changed: all of them where it can be any, and where the clock of the
    /// store was set, since what waits for its time may be due.
    pub(super) async fn notice_changes(&mut self) {
        let Some(feed) = self.site.changes() else { return };
        let changed = match feed.changes().await {
            Ok(changes) => {
                let was_set = self.was_set(changes.now);
                changes.tenants.filter(|_| !was_set)
            }
            // The work itself says so.
            Err(_) => None,
        };
        let wake = |(_, wake): &(_, watch::Sender<()>)| wake.send_replace(());
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
            u128::from(by_store.abs_diff(passed)) > DRIFT.as_millis()
        })
    }
}

impl AttendedTenant {
    /// Round after round while there is such a tenant, each with its settings of that moment.
    pub(super) async fn repeat(mut self, mut job: Box<dyn Job>) {
        loop {
            // First: what changes from here on wakes the next round, even where this one misses it.
            self.changed.mark_unchanged();
            let Some(tenant) = self.site.tenant(&self.id) else { return };
            let next = job.round(&tenant).await;
            drop(tenant);
            sleep(PAUSE).await;
            let wait = match next {
                _ if self.site.changes().is_none() => Duration::ZERO,
                Next::Soon => Duration::ZERO,
                Next::In(time) => time.min(LOOK_AGAIN).saturating_sub(PAUSE),
                Next::Changed => LOOK_AGAIN,
            };
            tokio::select! {
                biased;
                changed = self.changed.changed() => if changed.is_err() { return },
                () = sleep(wait) => {}
            }
        }
    }
}
