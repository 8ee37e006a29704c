//! Which tenants have changed: one key for all of them, at which each server announces those that it
//! has changed, and looks for those of the others.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::{ChangeFeed, Changes, Result};

use crate::codec::{self, Context};
use crate::{RedisStore, keys, scripts};

/// The number of the last announcement that was heard; empty before the first.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<String>);

/// The time, the number of the last announcement, whether it is known who was announced since the one
/// that was heard last, and who that was.
type Answer = (String, String, bool, Vec<String>);

#[async_trait]
impl ChangeFeed for RedisStore {
    /// A server that fails between a commit and its announcement, which is made with the next call of
    /// this, announces nothing: whoever relies on the others looks at each tenant now and then.
    async fn changes(&self) -> Result<Changes> {
        const OP: &str = "changes";
        let own = self.seen.take_changed();
        let mut script = scripts::CHANGES.prepare_invoke();
        script.key(keys::CHANGES).arg(self.heard.get());
        for tenant in &own {
            script.arg(tenant.as_str());
        }
        let answer: Result<Answer> = self.client.read(OP, &script).await;
        if answer.is_err() {
            // To be announced by the next call.
            own.iter().for_each(|tenant| drop(self.seen.of(tenant).changing()));
        }
        let (now, last, is_known, others) = answer?;
        self.heard.set(last);
        let now = codec::decode_timestamp(&now).context(OP)?;
        let others = others.into_iter().filter_map(|tenant| TenantId::parse(tenant).ok());
        Ok(Changes { now, tenants: is_known.then(|| own.into_iter().chain(others).collect()) })
    }
}

impl LastHeard {
    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, last: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }
}
