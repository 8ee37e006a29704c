//! A backend that carries out the calls of the record layer with one change.

use std::sync::Arc;

use swarm_core::store::backend::{
    Backend, CommitOutcome, Decision, Item, Load, Operation, Query, Reading, Snapshot, Transaction,
};
use swarm_core::store::{Changes, Readiness, Result, StoreError, async_trait};
use swarm_core::{TenantId, Timestamp};
use tokio::task::yield_now;

use super::sites::{DUMP, Plan, Sites};

const RESTORE: Operation = "restore";

/// How often other tasks run between queries that are asked one by one.
const PAUSE: usize = 12;

/// A backend between the record layer and another backend. Other tasks run between its calls.
///
/// It has all bodies written as texts, so that a part that is not written cannot be read.
pub(crate) struct Mutated<B> {
    pub(crate) backend: Arc<B>,
    pub(crate) plan: Arc<Plan>,
}

impl<B: Backend> Mutated<B> {
    fn sites(&self, op: Operation) -> Sites<'_> {
        Sites { plan: &self.plan, op }
    }

    fn makes(&self, op: Operation, what: &str) -> bool {
        self.plan.makes(op, format_args!("{what}"))
    }

    async fn begin(&self) {
        self.plan.call();
        yield_now().await;
    }
}

#[async_trait]
impl<B: Backend> Backend for Mutated<B> {
    async fn read(
        &self,
        tenant: &TenantId,
        op: Operation,
        mut queries: Vec<Query>,
    ) -> Result<Reading> {
        self.begin().await;
        let sites = self.sites(op);
        let tenant = sites.tenant(tenant);
        let names = sites.queries(&mut queries);
        let facts = queries.iter().filter(|query| !matches!(query, Query::CommitOf(_))).count();
        let is_divided = facts > 1 && self.makes(op, "queries: one by one");
        let mut reading = self.backend.read(&tenant, op, queries.clone()).await?;
        for last in (0..facts).filter(|_| is_divided) {
            for _ in 0..PAUSE {
                yield_now().await;
            }
            let mut asked = self.backend.read(&tenant, op, queries[..=last].to_vec()).await?;
            reading.answers[last] = asked.answers.remove(last);
        }
        sites.answers(&names, &mut reading);
        Ok(reading)
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        self.begin().await;
        let (sites, mut sent) = (self.sites(op), transaction.with_texts());
        let is_reversed = sites.transaction(&mut sent);
        let checks = sent.checks.len();
        let mut outcome = self.backend.commit(&sites.tenant(tenant), op, sent).await?;
        match &mut outcome.decision {
            Decision::Failed { check, .. } if is_reversed => *check = checks - 1 - *check,
            Decision::Committed(assigned) if sites.makes_in_every("time of a commit: 1970") => {
                assigned.at = Timestamp::EPOCH;
            }
            _ => {}
        }
        Ok(outcome)
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        let tenant = self.sites(DUMP).tenant(tenant);
        let taken = self.backend.snapshot(&tenant).await?;
        let is_live = self.makes(DUMP, "snapshot: of the current records");
        let live = is_live.then(|| (Arc::clone(&self.backend), tenant));
        Ok(Box::new(MutatedSnapshot { taken, live, plan: Arc::clone(&self.plan) }))
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        let load = self.backend.load().await?;
        let backend = Self { backend: Arc::clone(&self.backend), plan: Arc::clone(&self.plan) };
        Ok(Box::new(MutatedLoad { load, backend }))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        let mut tenants = self.backend.tenants().await?;
        if self.makes("tenants", "tenants: only one") {
            tenants.truncate(1);
        }
        Ok(tenants)
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        if self.makes("remove", "records: kept") {
            return Ok(());
        }
        self.backend.remove(tenant).await
    }

    async fn changes(&self) -> Result<Changes> {
        let mut changes = self.backend.changes().await?;
        if self.makes("changes", "time: of another clock") {
            changes.now = Timestamp::EPOCH;
        }
        Ok(changes)
    }

    async fn ready(&self) -> Result<Readiness> {
        if self.makes("ready", "store: never ready") {
            return Err(StoreError::unavailable("ready", "planted"));
        }
        self.backend.ready().await
    }
}

struct MutatedSnapshot<B> {
    taken: Box<dyn Snapshot>,
    /// What is read in place of the snapshot.
    live: Option<(Arc<B>, TenantId)>,
    plan: Arc<Plan>,
}

#[async_trait]
impl<B: Backend> Snapshot for MutatedSnapshot<B> {
    async fn read(&mut self, mut queries: Vec<Query>) -> Result<Reading> {
        self.plan.call();
        let sites = Sites { plan: &self.plan, op: DUMP };
        let names = sites.queries(&mut queries);
        let mut reading = match &self.live {
            Some((backend, tenant)) => backend.read(tenant, DUMP, queries).await?,
            None => self.taken.read(queries).await?,
        };
        sites.answers(&names, &mut reading);
        Ok(reading)
    }
}

struct MutatedLoad<B> {
    load: Box<dyn Load>,
    backend: Mutated<B>,
}

#[async_trait]
impl<B: Backend> Load for MutatedLoad<B> {
    async fn write(&mut self, tenant: &TenantId, mut items: Vec<Item>) -> Result<()> {
        self.backend.plan.call();
        let sites = self.backend.sites(RESTORE);
        sites.items(&mut items);
        let tenant = sites.tenant(tenant);
        if self.backend.makes(RESTORE, "records: readable at once") {
            let mut at_once = self.backend.backend.load().await?;
            at_once.write(&tenant, items.clone()).await?;
            at_once.commit().await?;
        }
        self.load.write(&tenant, items).await
    }

    async fn commit(self: Box<Self>) -> Result<Option<TenantId>> {
        match self.backend.makes(RESTORE, "records: not committed") {
            true => Ok(None),
            false => self.load.commit().await,
        }
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.load.discard().await
    }
}
