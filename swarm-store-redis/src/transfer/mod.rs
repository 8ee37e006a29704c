//! Dump and restore of tenants.
//!
//! A dump copies the hashes that change, by one script, and reads the copies; takes and the log only grow. Long snapshots
//! are read where they are.
//! A restore writes keys of its own, which one script renames at the end. Both expire, so a process that is
//! killed leaves nothing that is served, and nothing for long.

mod keys_of;
mod operations;
mod read;
mod write;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::{Dump, Restore, Result, Transfer};

use crate::RedisStore;
use crate::keys::Keys;

#[async_trait]
impl Transfer for RedisStore {
    /// Looks for the keys of tenants on all servers, and asks which of them have records.
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        const OP: &str = "tenants";
        let mut found = std::collections::BTreeSet::new();
        // A failover may have lost the mark of a new tenant that a process then wrote to.
        for name in ["layout", "sessions"] {
            let keys = self.client.scan(OP, &format!("swarm:{{*}}:{name}")).await?;
            found.extend(keys.iter().filter_map(|key| tenant_of(key, name)));
        }
        let mut used = Vec::new();
        for tenant in found {
            if self.is_used(OP, &tenant).await? {
                used.push(tenant);
            }
        }
        Ok(used)
    }

    async fn dump(&self, tenant: &TenantId) -> Result<Box<dyn Dump>> {
        let copies = keys_of::apart("dump", tenant)?;
        Ok(Box::new(read::Records::begin(self.tenant(tenant), copies).await?))
    }

    async fn restore(&self) -> Result<Box<dyn Restore>> {
        Ok(Box::new(write::Restoration::new(self.clone())))
    }
}

impl RedisStore {
    async fn is_used(&self, op: &'static str, tenant: &TenantId) -> Result<bool> {
        let keys = keys_of::records(&Keys::of(tenant))?;
        let exists = redis::cmd("EXISTS").arg(&keys).to_owned();
        Ok(self.client.query::<u64>(op, &exists).await? > 0)
    }
}

fn tenant_of(key: &str, name: &str) -> Option<TenantId> {
    let rest = key.strip_prefix("swarm:{")?.strip_suffix(name)?;
    TenantId::parse(rest.strip_suffix("}:")?).ok()
}
