//! Implements [`Backend`].

use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;
use swarm_core::store::backend::{
    Backend, CommitOutcome, Load, Operation, Query, Reading, Snapshot, Table, Transaction,
};
use swarm_core::store::{Changes, Readiness, Result};
use swarm_core::{StoreError, TenantId};

use crate::connection::Address;
use crate::connection::client::{Client, bounded};
use crate::connection::options::Options;
use crate::loading::Loading;
use crate::snapshot::Copies;
use crate::tenant::OpenTenants;
use crate::{health, layout};

/// The [port of backends](swarm_core::store::backend) in Redis, for any tables.
pub struct RedisBackend {
    tenants: OpenTenants,
    strict: bool,
}

impl RedisBackend {
    /// Connects as [`RedisStore::connect`](crate::RedisStore::connect) does, to a server that has these tables, or none.
    ///
    /// # Errors
    /// As there.
    pub async fn connect(url: &str, tables: &'static [&'static Table]) -> Result<Self> {
        bounded("connect", async {
            let (address, options) = parse(url)?;
            #[cfg(feature = "ring")]
            crate::tls::install_provider(&options.url);
            let client = Client::connect(address, options.replicas).await?;
            // A full server is accepted here; `ready` reports it.
            let (found, _) =
                health::settings_and_memory(&client, "connect", options.strict).await?;
            for warning in found.warnings {
                tracing::warn!("{warning}");
            }
            layout::check_server("connect", &client).await?;
            let tenants = OpenTenants::new("connect", client, tables)?;
            Ok(Self { tenants, strict: options.strict })
        })
        .await
    }
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBackend").field("strict", &self.strict).finish_non_exhaustive()
    }
}

/// Reads an address and its options.
pub(crate) fn parse(url: &str) -> Result<(Address, Options)> {
    let options = Options::parse(url)?;
    let address = Address::parse(&options.url);
    Ok((address.map_err(|error| StoreError::misconfigured("connect", error))?, options))
}

#[async_trait]
impl Backend for RedisBackend {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.tenants.open(tenant).read(op, &queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        self.tenants.open(tenant).commit(op, &transaction).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Copies::begin(self.tenants.open(tenant)).await?))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        Ok(Box::new(Loading::new(self.tenants.clone())))
    }

    /// Looks for the keys of records on all servers.
    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let found = self.tenants.client().scan("tenants", "swarm:{*}:records").await?;
        // A key may be found twice.
        let found: BTreeSet<_> = found.iter().filter_map(|key| tenant_of(key)).collect();
        Ok(found.into_iter().collect())
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        self.tenants.remove(tenant).await
    }

    /// Commits of this process are announced before they are made, and again by the next call of this; takes
    /// only by the latter. A tenant that another process announces is returned twice, the second time when
    /// its commit must have ended.
    async fn changes(&self) -> Result<Changes> {
        self.tenants.changes().await
    }

    /// Checks that the server answers, is not a replica, rejects writes rather than evicting records, and has no records of
    /// another layout. Warns when the server may lose acknowledged records; in strict mode that is an error.
    async fn ready(&self) -> Result<Readiness> {
        bounded("ready", async {
            layout::check_server("ready", self.tenants.client()).await?;
            health::check(self.tenants.client(), "ready", self.strict).await
        })
        .await
    }
}

fn tenant_of(records: &str) -> Option<TenantId> {
    TenantId::parse(records.strip_prefix("swarm:{")?.strip_suffix("}:records")?).ok()
}
