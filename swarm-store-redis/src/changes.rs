//! Which tenants have changed: one key for all of them, at which each server announces those that it
//! has changed, and looks for those of the others.

use std::sync::{Mutex, PoisonError};

use swarm_core::TenantId;
use swarm_core::store::{Changes, Result, SeenLogs};

use crate::codec::{self, Context};
use crate::connection::client::Client;
use crate::script_call::ScriptCall;
use crate::{keys, scripts};

/// The number of the last announcement that was heard; empty before the first.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<String>);

/// The time, the number of the last announcement, whether it is known who was announced since the one
/// that was heard last, and who that was.
type Answer = (String, String, bool, Vec<String>);

impl LastHeard {
    /// Announces what this process has changed, and answers that and what others have announced.
    pub(crate) async fn exchange(&self, client: &Client, seen: &SeenLogs) -> Result<Changes> {
        const OP: &str = "changes";
        let own = seen.take_changed();
        let mut script = ScriptCall::of(&scripts::CHANGES, [keys::CHANGES]);
        script.arg(self.get());
        for tenant in &own {
            script.arg(tenant.as_str());
        }
        let answer: Result<Answer> = client.run(OP, &script).await;
        if answer.is_err() {
            // To be announced by the next call.
            own.iter().for_each(|tenant| drop(seen.of(tenant).changing()));
        }
        let (now, last, is_known, others) = answer?;
        self.set(last);
        let now = codec::decode_timestamp(&now).context(OP)?;
        let others = others.into_iter().filter_map(|tenant| TenantId::parse(tenant).ok());
        Ok(Changes { now, tenants: is_known.then(|| own.into_iter().chain(others).collect()) })
    }

    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, last: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }
}
