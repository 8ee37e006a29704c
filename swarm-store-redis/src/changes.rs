//! The change feed: a stream to which each process appends the tenants that it changes, and from which it reads the
//! announcements of the others.
//!
//! A process knows what was announced since its last call only if the last announcement that it read is still in the stream.
//! After a failover or a restore it may be missing, whatever was announced since then: any tenant may have changed.
//!
//! In a cluster that key is on another node than most tenants, so no commit can write to it. A commit is
//! therefore announced before it is made: a process that is killed at any moment has either announced its
//! commit or not made it. A reader may receive an announcement before the commit, so the tenant is reported
//! again [`COMMIT_WINDOW`] later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use swarm_core::store::{Changes, Result};
use swarm_core::{StoreError, TenantId, Timestamp};
use tokio::time::Instant;

use crate::connection::client::{CALL_TIMEOUT, Client};
use crate::script_call::ScriptCall;
use crate::{keys, scripts};

/// The time after an announcement within which its commit is made, if at all: longer than a call may take.
const COMMIT_WINDOW: Duration = CALL_TIMEOUT.saturating_add(Duration::from_secs(1));

/// About how many announcements are kept. A process that has not read so many learns that any tenant may have changed.
const KEPT: usize = 10_000;

/// The announcements received so far, and the changes that are still to be announced.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// The tenants that this process has changed since its last call.
    own: BTreeSet<TenantId>,
    /// The id of the last announcement; empty before the first.
    last: String,
    /// The tenants to be reported again, and when.
    repeats: BTreeMap<TenantId, Instant>,
}

/// Announces that a tenant is about to be changed.
pub(crate) async fn announce(client: &Client, tenant: &TenantId) -> Result<()> {
    let mut add = redis::cmd("XADD");
    add.arg(keys::CHANGES).arg("MAXLEN").arg("~").arg(KEPT);
    add.arg("*").arg("tenant").arg(tenant.as_str());
    client.query("announce", &add).await
}

/// The time, the id of the last announcement, whether the announcements since the last call are
/// known, and the tenants that were announced.
type Answer = (String, String, bool, Vec<String>);

impl LastHeard {
    /// Begins a commit. When the returned guard is dropped, the tenant is to be announced.
    pub(crate) fn changing<'a>(&'a self, tenant: &'a TenantId) -> Changing<'a> {
        Changing { heard: self, tenant }
    }

    /// Announces the tenants that this process has changed; returns those that were announced since the last call.
    pub(crate) async fn exchange(&self, client: &Client) -> Result<Changes> {
        const OP: &str = "changes";
        let mut announced = Announced { heard: self, own: std::mem::take(&mut self.lock().own) };
        let mut script = ScriptCall::of(&scripts::CHANGES, &[keys::CHANGES]);
        script.arg(&self.lock().last).arg(KEPT);
        for tenant in &announced.own {
            script.arg(tenant.as_str());
        }
        let (now, last, is_known, others): Answer = client.run(OP, &script).await?;
        announced.own.clear();
        let now = now.parse().ok().and_then(Timestamp::from_millis);
        let now = now.ok_or_else(|| StoreError::corrupt(OP, "odd time"))?;
        // Each is reported once, however often it was announced.
        let others: BTreeSet<_> =
            others.into_iter().filter_map(|tenant| TenantId::parse(tenant).ok()).collect();
        let others = self.lock().receive(last, others, Instant::now());
        Ok(Changes { now, tenants: is_known.then_some(others) })
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit in progress.
#[must_use]
pub(crate) struct Changing<'a> {
    heard: &'a LastHeard,
    tenant: &'a TenantId,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.heard.lock().own.insert(self.tenant.clone());
    }
}

/// Tenants that a call announces. If it fails, or its future is dropped, the next call announces them.
struct Announced<'a> {
    heard: &'a LastHeard,
    own: BTreeSet<TenantId>,
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.heard.lock().own.append(&mut self.own);
    }
}

impl Heard {
    /// Records announcements of others; returns their tenants, and those whose repeat is due.
    fn receive(&mut self, last: String, others: BTreeSet<TenantId>, now: Instant) -> Vec<TenantId> {
        self.last = last;
        let mut reported: Vec<_> = others.iter().cloned().collect();
        self.repeats.retain(|tenant, due| {
            let is_due = *due <= now;
            if is_due {
                reported.push(tenant.clone());
            }
            !is_due
        });
        self.repeats.extend(others.into_iter().map(|tenant| (tenant, now + COMMIT_WINDOW)));
        reported
    }
}
