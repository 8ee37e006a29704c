//! Swarm on Redis: the storage port of `swarm-core` on one server, or on a cluster.
//!
//! Redis 6.2 or later, or Valkey. All that a tenant has shares a slot of a cluster; each write is
//! one script, which checks all its guards, by the server's own clock, before it writes anything.
//! A script that is sent twice answers twice what came of it the first time. What a server may
//! lose when it goes down is for its configuration to say: see `README.md`.

#[cfg(feature = "cluster")]
mod cluster;
mod codec;
mod committee;
mod documents;
mod health;
mod keys;
mod link;
mod members;
mod outbox;
mod scripts;
mod sessions;
mod takes;

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::AttemptId;
use swarm_core::store::{Clock, CommitteeStore, CommitteeTenants, Result, Store, Tenants};
use swarm_core::{Entropy, Instant, StoreError, SystemEntropy, TenantId};

use codec::Decoded;
use keys::Keys;
use link::Link;

/// All tenants, in Redis. Cloning shares the connection.
#[derive(Clone)]
pub struct RedisStore {
    link: Arc<Link>,
}

impl RedisStore {
    /// Connects to the server, or the cluster, at this address:
    ///
    /// - `redis://[user:password@]host[:port][/database]`, a server;
    /// - `rediss://…`, a server over TLS (feature `tls`); it must be one that the operating system
    ///   trusts, or whose authority the file named by `SSL_CERT_FILE` holds;
    /// - `redis-cluster://[user:password@]host:port,host:port,…`, a cluster by some of its nodes
    ///   (feature `cluster`), and `rediss-cluster://…`, over TLS.
    ///
    /// Warns when the server may lose what it has acknowledged. A connection that is lost later is
    /// opened again by itself; no call takes longer than five seconds. The connection lives on the
    /// runtime that this is called on.
    ///
    /// # Errors
    /// [`StoreError`] when the address makes no sense or nobody answers there.
    pub async fn connect(url: &str) -> Result<Self> {
        let link = Link::connect(url).await?;
        health::warn_of_losses(&link).await;
        Ok(Self { link: Arc::new(link) })
    }
}

#[async_trait]
impl Tenants for RedisStore {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        Arc::new(self.tenant(tenant))
    }

    /// That the server answers, and that it would rather refuse a write than forget a record.
    async fn ready(&self) -> Result<()> {
        health::ready(&self.link).await
    }
}

impl CommitteeTenants for RedisStore {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        Arc::new(self.tenant(tenant))
    }
}

impl RedisStore {
    fn tenant(&self, tenant: &TenantId) -> TenantStore {
        TenantStore { link: Arc::clone(&self.link), keys: Keys::of(tenant) }
    }
}

/// One tenant's world.
struct TenantStore {
    link: Arc<Link>,
    keys: Keys,
}

impl TenantStore {
    /// The key that tells an attempt to commit from all others.
    fn attempt(&self, op: &'static str) -> Result<String> {
        let mut attempt = [0; 16];
        SystemEntropy.fill(&mut attempt).map_err(|error| StoreError::new(op, error))?;
        Ok(self.keys.attempt(AttemptId(attempt)))
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Instant> {
        let mut script = scripts::NOW.prepare_invoke();
        let now: String = self.link.run("now", script.key(self.keys.counters())).await?;
        codec::instant(&now).of("now")
    }
}
