//! The change feed: one key at which each process announces the tenants that it changes, and reads the
//! announcements of the others.
//!
//! In a cluster that key is on another node than most tenants, so no commit can write to it. A commit is
//! therefore announced before it is made: a process that is killed at any moment has either announced its
//! commit or not made it. A reader may receive an announcement before the commit, so the tenant is reported
//! again [`COMMIT_WINDOW`] later.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use swarm_core::TenantId;
use swarm_core::store::{Changes, Result, SeenLogs};
use tokio::time::Instant;

use crate::codec::{self, Context};
use crate::connection::client::{CALL_TIMEOUT, Client};
use crate::script_call::ScriptCall;
use crate::{keys, scripts};

/// The time after an announcement within which its commit is made, if at all: longer than a call may take.
const COMMIT_WINDOW: Duration = CALL_TIMEOUT.saturating_add(Duration::from_secs(1));

/// The announcements received so far.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// The number of the last announcement; empty before the first.
    last: String,
    /// The tenants to be reported again, and when.
    repeats: BTreeMap<TenantId, Instant>,
}

/// Announces that a tenant is about to be changed.
pub(crate) async fn announce(client: &Client, tenant: &TenantId) -> Result<()> {
    let mut script = ScriptCall::of(&scripts::ANNOUNCE, [keys::CHANGES]);
    script.arg(tenant.as_str());
    client.run::<String>("announce", &script).await.map(drop)
}

/// The time, the number of the last announcement, whether the announcements since the last call are
/// known, and the tenants that were announced.
type Answer = (String, String, bool, Vec<String>);

impl LastHeard {
    /// Announces the tenants that this process has changed; returns them and those that others announced.
    pub(crate) async fn exchange(&self, client: &Client, seen: &SeenLogs) -> Result<Changes> {
        const OP: &str = "changes";
        let own = seen.take_changed();
        let mut script = ScriptCall::of(&scripts::CHANGES, [keys::CHANGES]);
        script.arg(&self.lock().last);
        for tenant in &own {
            script.arg(tenant.as_str());
        }
        let answer: Result<Answer> = client.run(OP, &script).await;
        if answer.is_err() {
            // The next call announces them.
            own.iter().for_each(|tenant| drop(seen.of(tenant).changing()));
        }
        let (now, last, is_known, others) = answer?;
        let now = codec::decode_timestamp(&now).context(OP)?;
        let others = others.into_iter().filter_map(|tenant| TenantId::parse(tenant).ok());
        let others = self.lock().receive(last, others.collect(), Instant::now());
        Ok(Changes { now, tenants: is_known.then(|| own.into_iter().chain(others).collect()) })
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// Records announcements of others; returns their tenants, and those whose repeat is due.
    fn receive(&mut self, last: String, others: Vec<TenantId>, now: Instant) -> Vec<TenantId> {
        self.last = last;
        let mut reported = others.clone();
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
