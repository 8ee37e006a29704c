//! Faults of opening tenants, and stores that are unavailable.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use swarm_core::store::{CommitteeStore, Readiness, Result, Store, async_trait};
use swarm_core::{CommitteeTenants, StoreError, TenantId, Tenants};
use swarm_store_memory::MemoryStore;
use swarm_testing::conformance::{
    committee, dry_run_is_judged_and_writes_nothing, store_is_ready,
    tenant_opened_concurrently_is_the_same, tenant_opened_twice_is_the_same,
};

use crate::broken_stores::expect_broken;

/// The cases that catch these faults.
pub(crate) const CASES: &[&str] = &[
    "store_is_ready",
    "tenant_opened_twice_is_the_same",
    "tenant_opened_concurrently_is_the_same",
    "dry_run_is_judged_and_writes_nothing",
];

/// The cases of the committee.
pub(crate) const OF_COMMITTEE: &[&str] = &["committee_opened_twice_is_the_same"];

/// Opens a new, empty tenant each time.
struct EmptyOnEachOpen;

#[async_trait]
impl Tenants for EmptyOnEachOpen {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        MemoryStore::new().open(tenant)
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        MemoryStore::new().open_dry_run(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        Err(StoreError::unavailable("ready", "nobody answers"))
    }
}

impl CommitteeTenants for EmptyOnEachOpen {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        MemoryStore::new().open_committee(tenant)
    }

    fn open_committee_dry_run(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore> {
        MemoryStore::new().open_committee_dry_run(tenant)
    }
}

/// Checks for a tenant and creates one in two steps, without a lock.
#[derive(Default)]
struct CreatedByEachRacer(Mutex<HashMap<TenantId, MemoryStore>>);

#[async_trait]
impl Tenants for CreatedByEachRacer {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        if let Some(there) = self.0.lock().unwrap().get(tenant) {
            return there.open(tenant);
        }
        thread::sleep(Duration::from_millis(1));
        let made = MemoryStore::new();
        self.0.lock().unwrap().insert(tenant.clone(), made.clone());
        made.open(tenant)
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.open(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        Ok(Readiness::default())
    }
}

/// Commits what it should only judge.
struct CommittingDryRuns(MemoryStore);

#[async_trait]
impl Tenants for CommittingDryRuns {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.0.open(tenant)
    }

    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store> {
        self.0.open(tenant)
    }

    async fn ready(&self) -> Result<Readiness> {
        self.0.ready().await
    }
}

#[tokio::test]
async fn a_store_that_commits_dry_runs_is_caught() {
    let store = Arc::new(CommittingDryRuns(MemoryStore::new()));
    expect_broken(dry_run_is_judged_and_writes_nothing(store)).await;
}

#[tokio::test]
async fn a_store_that_is_not_there_is_caught() {
    expect_broken(store_is_ready(Arc::new(EmptyOnEachOpen))).await;
}

#[tokio::test]
async fn a_store_whose_openings_are_apart_is_caught() {
    expect_broken(tenant_opened_twice_is_the_same(Arc::new(EmptyOnEachOpen))).await;
    expect_broken(committee::committee_opened_twice_is_the_same(Arc::new(EmptyOnEachOpen))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_whose_racing_openings_are_apart_is_caught() {
    let store = Arc::new(CreatedByEachRacer::default());
    expect_broken(tenant_opened_concurrently_is_the_same(store)).await;
}
