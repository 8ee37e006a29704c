//! Which tenants have changed: one key for all of them, at which each process announces those that it
//! changes, and looks for those of the others.
//!
//! In a cluster that key is on another node than most tenants, so that no commit can write to it. A
//! commit is therefore announced before it is made: a process that is killed at any moment has either
//! announced its commit or not made it. Whoever hears of it too early looks again, [`AGAIN`] later.

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

/// How long after an announcement was heard its commit has been made, or never will be: longer than a
/// call may take.
const AGAIN: Duration = CALL_TIMEOUT.saturating_add(Duration::from_secs(1));

/// What was heard of other processes.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// The number of the last announcement; empty before the first.
    last: String,
    /// The tenants that are told of again, and when.
    again: BTreeMap<TenantId, Instant>,
}

/// Announces that a tenant is about to be changed.
pub(crate) async fn announce(client: &Client, tenant: &TenantId) -> Result<()> {
    let mut script = ScriptCall::of(&scripts::ANNOUNCE, [keys::CHANGES]);
    script.arg(tenant.as_str());
    client.run::<String>("announce", &script).await.map(drop)
}

/// The time, the number of the last announcement, whether it is known who was announced since the one
/// that was heard last, and who that was.
type Answer = (String, String, bool, Vec<String>);

impl LastHeard {
    /// Announces what this process has changed, and answers that and what others have announced.
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
            // To be announced by the next call.
            own.iter().for_each(|tenant| drop(seen.of(tenant).changing()));
        }
        let (now, last, is_known, others) = answer?;
        let now = codec::decode_timestamp(&now).context(OP)?;
        let others = others.into_iter().filter_map(|tenant| TenantId::parse(tenant).ok());
        let others = self.lock().hear(last, others.collect(), Instant::now());
        Ok(Changes { now, tenants: is_known.then(|| own.into_iter().chain(others).collect()) })
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// Remembers what others have announced, and answers it with what is told again now.
    fn hear(&mut self, last: String, others: Vec<TenantId>, now: Instant) -> Vec<TenantId> {
        self.last = last;
        let mut told = others.clone();
        self.again.retain(|tenant, due| {
            let is_due = *due <= now;
            if is_due {
                told.push(tenant.clone());
            }
            !is_due
        });
        self.again.extend(others.into_iter().map(|tenant| (tenant, now + AGAIN)));
        told
    }
}
