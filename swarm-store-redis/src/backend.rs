//! Implements [`Backend`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::store::backend::{
    Backend, Load, Operation, Outcome, Query, Reading, Snapshot, Table, Transaction,
};
use swarm_core::store::{Changes, Readiness, Result};

use crate::changes::LastHeard;
use crate::connection::client::{Client, bounded};
use crate::keys::Keys;
use crate::loading::Loading;
use crate::schema::Schema;
use crate::snapshot::Copies;
use crate::tenant::{SharedByTenant, Tenant};
use crate::{health, layout};

/// Tables and logs of all tenants, in Redis. Clones share the connections.
#[derive(Clone)]
pub(crate) struct RedisBackend {
    client: Arc<Client>,
    schema: Schema,
    shared: Arc<SharedByTenant>,
    heard: Arc<LastHeard>,
    strict: bool,
}

impl RedisBackend {
    pub(crate) fn new(client: Client, tables: &'static [&'static Table], strict: bool) -> Self {
        let (shared, heard) = Default::default();
        Self { client: Arc::new(client), schema: Schema::new(tables), shared, heard, strict }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(crate) fn tenant(&self, tenant: &TenantId) -> Tenant {
        Tenant {
            id: tenant.clone(),
            client: Arc::clone(&self.client),
            schema: self.schema,
            keys: Keys::of(tenant),
            shared: self.shared.of(tenant),
            heard: Arc::clone(&self.heard),
        }
    }

    /// Whether a tenant has records other than transient ones.
    pub(crate) async fn is_used(&self, op: Operation, tenant: &TenantId) -> Result<bool> {
        let exists = redis::cmd("EXISTS").arg(self.guards(&Keys::of(tenant))).to_owned();
        Ok(self.client.query::<u64>(op, &exists).await? > 0)
    }

    /// The keys that exist only if there are records other than transient ones.
    pub(crate) fn guards(&self, keys: &Keys) -> Vec<String> {
        let lasting = self.schema.all().filter(|(_, table)| !table.is_transient);
        let records = lasting.map(|(_, table)| keys.records(table));
        [keys.head(), keys.log()].into_iter().chain(records).collect()
    }
}

#[async_trait]
impl Backend for RedisBackend {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.tenant(tenant).read(op, &queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Outcome> {
        self.tenant(tenant).commit(op, &transaction).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Copies::begin(self.tenant(tenant)).await?))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        Ok(Box::new(Loading::new(self.clone())))
    }

    /// Looks for the keys of tenants on all servers, and asks which of them have records.
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        const OP: Operation = "tenants";
        let mut found = BTreeSet::new();
        // A failover may have lost the mark of a new tenant that a process then wrote to.
        for name in ["layout", "head"] {
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

    /// Commits of this process are announced before they are made, and again by the next call of this; takes
    /// only by the latter. A tenant that another process announces is returned twice, the second time when
    /// its commit must have ended.
    async fn changes(&self) -> Result<Changes> {
        self.heard.exchange(&self.client).await
    }

    /// Checks that the server answers, is not a replica, rejects writes rather than evicting records, and has no records of
    /// another layout. Warns when the server may lose acknowledged records; in strict mode that is an error.
    async fn ready(&self) -> Result<Readiness> {
        bounded("ready", async {
            layout::check_server("ready", &self.client).await?;
            health::check(&self.client, "ready", self.strict).await
        })
        .await
    }
}

fn tenant_of(key: &str, name: &str) -> Option<TenantId> {
    let rest = key.strip_prefix("swarm:{")?.strip_suffix(name)?;
    TenantId::parse(rest.strip_suffix("}:")?).ok()
}
