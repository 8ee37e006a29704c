//! Faults of change feeds.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use swarm_core::store::{ChangeFeed, Changes, Result, async_trait};
use swarm_core::{TenantId, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::conformance::{
    Process, concurrent_commits_of_tenants_are_all_announced,
    each_commit_is_announced_to_every_process, feed_has_the_time_of_the_store,
};

use crate::broken_stores::expect_broken;

/// The cases that catch a fault here.
pub(crate) const CASES: &[&str] = &[
    "each_commit_is_announced_to_every_process",
    "concurrent_commits_of_tenants_are_all_announced",
    "feed_has_the_time_of_the_store",
];

/// Changes what the feed of a store answers.
type Fault = Box<dyn Fn(Changes) -> Changes + Send + Sync>;

struct BrokenFeed {
    store: MemoryStore,
    fault: Fault,
}

#[async_trait]
impl ChangeFeed for BrokenFeed {
    async fn changes(&self) -> Result<Changes> {
        self.store.changes().await.map(&self.fault)
    }
}

fn broken(fault: impl Fn(Changes) -> Changes + Send + Sync + 'static) -> Vec<Process> {
    let store = MemoryStore::new();
    let feed = Arc::new(BrokenFeed { store: store.clone(), fault: Box::new(fault) });
    vec![Process { tenants: Arc::new(store), feed }]
}

/// Each tenant is announced once for all time.
fn announced_once() -> Vec<Process> {
    let known = Mutex::<HashSet<TenantId>>::default();
    broken(move |mut changes| {
        let mut known = known.lock().unwrap();
        changes.tenants.as_mut().unwrap().retain(|tenant| known.insert(tenant.clone()));
        changes
    })
}

/// Of several tenants, the last one is announced.
fn one_of_several() -> Vec<Process> {
    broken(|mut changes| {
        let tenants = changes.tenants.as_mut().unwrap();
        tenants.drain(..tenants.len().saturating_sub(1));
        changes
    })
}

/// The time is that of the first call.
fn time_standing_still() -> Vec<Process> {
    let first = Mutex::<Option<Timestamp>>::default();
    broken(move |changes| {
        let now = *first.lock().unwrap().get_or_insert(changes.now);
        Changes { now, ..changes }
    })
}

#[tokio::test]
async fn feed_that_announces_a_tenant_once_is_caught() {
    expect_broken(each_commit_is_announced_to_every_process(announced_once())).await;
    concurrent_commits_of_tenants_are_all_announced(announced_once()).await;
}

#[tokio::test]
async fn feed_that_announces_one_of_several_tenants_is_caught() {
    expect_broken(concurrent_commits_of_tenants_are_all_announced(one_of_several())).await;
    each_commit_is_announced_to_every_process(one_of_several()).await;
}

#[tokio::test]
async fn feed_whose_time_stands_still_is_caught() {
    expect_broken(feed_has_the_time_of_the_store(time_standing_still())).await;
    each_commit_is_announced_to_every_process(time_standing_still()).await;
}
