//! The records of a tenant at one moment: a script copies the tables, and queries read the copies.
//!
//! The log only grows, so it is read where it is, up to its end in the copy. Long parts are read where they are, too: one
//! that was replaced meanwhile is an error. The server is blocked while it copies: for half a second with
//! 200,000 takes. It has the records in memory twice until the copies are removed, or expire.

use async_trait::async_trait;
use swarm_core::StoreError;
use swarm_core::domain::hex;
use swarm_core::store::Result;
use swarm_core::store::backend::{Operation, Query, Reading, Snapshot};

use crate::keys::Keys;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::{Tenant, new_id};

const OP: Operation = "dump";

/// How long the copies stay without being read, in milliseconds.
const TTL: u64 = 10 * 60 * 1_000;

/// The copies of the tables of a tenant.
pub(crate) struct Copies {
    tenant: Tenant,
    keys: Keys,
}

impl Copies {
    pub(crate) async fn begin(tenant: Tenant) -> Result<Self> {
        let keys = Keys::apart(&tenant.id, "dump", &hex(&new_id(OP)?.0));
        let copies = Self { tenant, keys };
        let mut names = [copies.tenant.keys.lasting(), copies.keys.lasting()].concat();
        names.push(copies.keys.marker());
        let mut script = ScriptCall::of(&scripts::COPY, &names);
        script.arg(TTL);
        copies.tenant.client.run_bulk::<()>(OP, &script).await?;
        Ok(copies)
    }

    fn copied(&self) -> Vec<String> {
        let mut names = self.keys.lasting().to_vec();
        names.push(self.keys.marker());
        names
    }
}

#[async_trait]
impl Snapshot for Copies {
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading> {
        let mut script = ScriptCall::of(&scripts::KEEP, &self.copied());
        script.arg(TTL);
        if !self.tenant.client.run::<bool>(OP, &script).await? {
            let expired = "nobody read on for ten minutes, and its copies expired";
            return Err(StoreError::unavailable(OP, expired));
        }
        self.tenant.read_from(OP, &self.keys, &queries).await
    }
}

impl Drop for Copies {
    /// Without a runtime the copies expire.
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let remove = redis::cmd("UNLINK").arg(self.copied()).to_owned();
        let client = std::sync::Arc::clone(&self.tenant.client);
        runtime.spawn(async move { client.query::<u64>(OP, &remove).await.map(drop) });
    }
}
