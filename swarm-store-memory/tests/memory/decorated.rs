//! Decorators of a backend in memory: they change what some of its calls do.

use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::store::backend::{
    Backend, Load, Operation, Outcome, Query, Reading, Snapshot, Transaction,
};
use swarm_core::store::{Changes, Readiness, Records, Result, async_trait};
use swarm_store_memory::MemoryBackend;

/// A store of the records in this backend.
pub(crate) fn store<B: Backend>(backend: B) -> Records<B> {
    Records::new(backend)
}

/// What is done around the calls of a backend. `next` carries them out.
#[async_trait]
pub(crate) trait Around: Send + Sync + 'static {
    async fn read(
        &self,
        next: &MemoryBackend,
        tenant: &TenantId,
        op: Operation,
        queries: Vec<Query>,
    ) -> Result<Reading> {
        next.read(tenant, op, queries).await
    }

    async fn commit(
        &self,
        next: &MemoryBackend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Outcome> {
        next.commit(tenant, op, transaction).await
    }
}

/// A backend with something around its calls.
pub(crate) struct Decorated<A> {
    pub(crate) memory: MemoryBackend,
    pub(crate) around: Arc<A>,
}

#[async_trait]
impl<A: Around> Backend for Decorated<A> {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.around.read(&self.memory, tenant, op, queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Outcome> {
        self.around.commit(&self.memory, tenant, op, transaction).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        self.memory.snapshot(tenant).await
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        self.memory.load().await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.memory.tenants().await
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        self.memory.remove(tenant).await
    }

    async fn changes(&self) -> Result<Changes> {
        self.memory.changes().await
    }

    async fn ready(&self) -> Result<Readiness> {
        self.memory.ready().await
    }
}
