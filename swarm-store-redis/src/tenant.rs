//! One tenant's part of the store, and how its calls are made.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Cmd, FromRedisValue, ScriptInvocation};
use swarm_core::domain::AttemptId;
use swarm_core::store::{Clock, HaltedTenants, Result};
use swarm_core::{Entropy, StoreError, SystemEntropy, TenantId, Timestamp};

use crate::codec::{self, Context};
use crate::connection::client::Client;
use crate::keys::Keys;
use crate::layout::TenantLayout;
use crate::scripts;

/// One tenant's part of the store.
pub(crate) struct TenantStore {
    pub(crate) id: TenantId,
    pub(crate) client: Arc<Client>,
    pub(crate) halted: Arc<HaltedTenants>,
    pub(crate) keys: Keys,
    pub(crate) layout: Arc<TenantLayout>,
}

impl TenantStore {
    /// Runs a script that writes, and recognizes a repeated attempt.
    pub(crate) async fn commit<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        self.mark(op).await?;
        self.halted.note(&self.id, self.client.commit(op, script, &self.keys).await)
    }

    /// Runs a script that writes and is idempotent. It does not wait for replicas.
    pub(crate) async fn write<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        self.mark(op).await?;
        self.client.read(op, script).await
    }

    /// Runs a script that only reads.
    pub(crate) async fn read<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        self.check(op).await?;
        self.client.read(op, script).await
    }

    /// Runs a script with a large answer. Commits do not wait behind it.
    pub(crate) async fn read_bulk<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        self.check(op).await?;
        self.client.read_bulk(op, script).await
    }

    /// Sends a command that only reads.
    pub(crate) async fn query<T: FromRedisValue>(&self, op: &'static str, cmd: &Cmd) -> Result<T> {
        self.check(op).await?;
        self.client.query(op, cmd).await
    }

    /// Checks, before the tenant's first read, that its layout is this program's.
    async fn check(&self, op: &'static str) -> Result<()> {
        if self.layout.is_checked() {
            return Ok(());
        }
        Box::pin(self.layout.check(op, &self.client, &self.keys)).await
    }

    /// Marks the tenant, before its first write, with this program's layout.
    async fn mark(&self, op: &'static str) -> Result<()> {
        if self.layout.is_marked() {
            return Ok(());
        }
        Box::pin(self.layout.mark(op, &self.client, &self.keys)).await
    }

    /// The time that a commit would have.
    pub(crate) async fn time_of_commit(&self, op: &'static str) -> Result<Timestamp> {
        let mut script = scripts::TIME_OF_COMMIT.prepare_invoke();
        let time: String = self.read(op, script.key(self.keys.log())).await?;
        codec::decode_timestamp(&time).context(op)
    }

    /// The key under which the outcome of a new attempt is kept.
    pub(crate) fn attempt(&self, op: &'static str) -> Result<String> {
        let mut attempt = [0; 16];
        SystemEntropy.fill(&mut attempt).map_err(|error| StoreError::unavailable(op, error))?;
        Ok(self.keys.attempt(AttemptId(attempt)))
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        let mut script = scripts::NOW.prepare_invoke();
        let now: String = self.read("now", script.key(self.keys.log())).await?;
        codec::decode_timestamp(&now).context("now")
    }
}
