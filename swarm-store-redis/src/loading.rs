//! Loads tenants: their records are written under keys of their own, which one script renames at the end. They expire, so a
//! process that is killed leaves nothing that is served, and nothing for long.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use swarm_core::domain::hex;
use swarm_core::store::Result;
use swarm_core::store::backend::{Item, Load, Operation};
use swarm_core::{StoreError, TenantId};

use crate::changes;
use crate::keys::Keys;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::{OpenTenants, Tenant, new_id};

const OP: Operation = "restore";

/// How long what is loaded stays, in milliseconds: a day.
const TTL: u64 = 24 * 60 * 60 * 1_000;

/// The records that are written in one call, at most.
const BATCH: usize = 200;

pub(crate) struct Loading {
    opened: OpenTenants,
    tenants: BTreeMap<TenantId, Staged>,
}

/// A tenant whose records are written, under keys of its own.
struct Staged {
    tenant: Tenant,
    keys: Keys,
    /// The keys of long parts.
    parts: BTreeSet<String>,
}

impl Loading {
    pub(crate) fn new(opened: OpenTenants) -> Self {
        Self { opened, tenants: BTreeMap::new() }
    }
}

#[async_trait]
impl Load for Loading {
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()> {
        if !self.tenants.contains_key(tenant) {
            let staged = Staged::begin(self.opened.open(tenant)).await?;
            self.tenants.insert(tenant.clone(), staged);
        }
        match self.tenants.get_mut(tenant) {
            Some(staged) => staged.write(items).await,
            None => Ok(()),
        }
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        // Most conflicts show before any tenant is committed.
        for tenant in self.tenants.keys() {
            if self.opened.is_used(OP, tenant).await? {
                let occupied = tenant.clone();
                self.discard().await?;
                return Ok(Some(occupied));
            }
        }
        for (id, staged) in &self.tenants {
            if !staged.commit().await? {
                let occupied = id.clone();
                self.discard().await?;
                return Ok(Some(occupied));
            }
        }
        Ok(None)
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        for staged in self.tenants.values() {
            staged.remove().await?;
        }
        Ok(())
    }
}

impl Staged {
    async fn begin(tenant: Tenant) -> Result<Self> {
        let keys = Keys::apart(&tenant.id, "restore", &hex(&new_id(OP)?.0));
        tenant.mark(OP).await?;
        let set = redis::cmd("SET").arg(keys.marker()).arg("").arg("PX").arg(TTL).to_owned();
        tenant.client.query::<()>(OP, &set).await?;
        Ok(Self { tenant, keys, parts: BTreeSet::new() })
    }

    async fn write(&mut self, items: Vec<Item>) -> Result<()> {
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            let batch = items.by_ref().take(BATCH).collect();
            self.parts.extend(self.tenant.load(OP, &self.keys, batch, TTL).await?);
        }
        Ok(())
    }

    /// Whether the tenant had no records, and has these now.
    async fn commit(&self) -> Result<bool> {
        let Tenant { keys, .. } = &self.tenant;
        let mut names = vec![keys.attempt(new_id(OP)?), self.keys.marker(), keys.records()];
        for written in self.written() {
            let name = written.strip_prefix(self.keys.prefix()).unwrap_or_default();
            let to = [keys.prefix(), name].concat();
            names.extend([written, to]);
        }
        let script = ScriptCall::of(&scripts::COMMIT_LOAD, &names);
        let _changing = self.tenant.heard.changing(&self.tenant.id);
        // If the announcement fails, the next call of `changes` makes it.
        let _announced = changes::announce(&self.tenant.client, &self.tenant.id).await;
        let client = &self.tenant.client;
        let outcome: String = client.commit(OP, &script, keys).await?;
        match outcome.as_str() {
            "loaded" => {
                self.remove().await?;
                Ok(true)
            }
            "occupied" => Ok(false),
            _ => Err(StoreError::corrupt(OP, "odd answer")),
        }
    }

    /// The keys that may have been written, but for the marker.
    fn written(&self) -> Vec<String> {
        let [records, order, parts] = self.keys.lasting();
        let names = [self.keys.log(), records, order, parts];
        names.into_iter().chain(self.parts.iter().cloned()).collect()
    }

    /// Removes the remaining keys.
    async fn remove(&self) -> Result<()> {
        let mut names = self.written();
        names.push(self.keys.marker());
        for names in names.chunks(500) {
            let remove = redis::cmd("UNLINK").arg(names).to_owned();
            self.tenant.client.query::<u64>(OP, &remove).await?;
        }
        Ok(())
    }
}
