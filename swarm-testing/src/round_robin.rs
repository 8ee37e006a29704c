//! Several handles of one store, called in rotation, as if by several processes.

use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::TenantId;
use swarm_core::store::backend::{
    Backend, CommitOutcome, Load, Operation, Query, Reading, Snapshot, Transaction,
};
use swarm_core::store::{Changes, Readiness, Result, async_trait};

/// Several handles of one backend, each opened as by a process of its own. Calls go to the handles in rotation, so no
/// two consecutive calls of a case share one. They may share what the database allows once in a process, but nothing that the
/// backend keeps in memory. The suite then detects a guarantee that holds only within one process.
#[derive(Debug)]
pub struct RoundRobin<B> {
    handles: Vec<B>,
    calls: AtomicUsize,
}

impl<B: Backend> RoundRobin<B> {
    /// Calls these handles in rotation.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(handles: Vec<B>) -> Self {
        assert!(!handles.is_empty(), "no handles");
        Self { handles, calls: AtomicUsize::new(0) }
    }

    fn next(&self) -> &B {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        &self.handles[call % self.handles.len()]
    }
}

#[async_trait]
impl<B: Backend> Backend for RoundRobin<B> {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.next().read(tenant, op, queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        self.next().commit(tenant, op, transaction).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        self.next().snapshot(tenant).await
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        self.next().load().await
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.next().tenants().await
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        self.next().remove(tenant).await
    }

    async fn changes(&self) -> Result<Changes> {
        self.next().changes().await
    }

    async fn ready(&self) -> Result<Readiness> {
        self.next().ready().await
    }
}
