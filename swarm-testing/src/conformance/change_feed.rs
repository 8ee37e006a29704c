//! Change feeds: each process learns of the commits of all, so that background work need not poll.

use std::sync::Arc;

use swarm_core::TenantId;
use swarm_core::store::{ChangeFeed, Changes, Tenants};

use crate::TestTenant;
use crate::assertions::{ensure, fail};
use crate::records::applicant;

/// How many tenants change at the same time.
const TENANTS: usize = 24;

/// A store as one process has it open, with its feed.
#[derive(Clone)]
pub struct Process {
    pub tenants: Arc<dyn Tenants>,
    pub feed: Arc<dyn ChangeFeed>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Process")
    }
}

impl Process {
    /// A store that has a feed.
    pub fn of(store: impl Tenants + ChangeFeed + Clone + 'static) -> Self {
        Self { tenants: Arc::new(store.clone()), feed: Arc::new(store) }
    }

    async fn changes(&self) -> Changes {
        self.feed.changes().await.unwrap()
    }

    /// Reads what happened so far. The first call of a feed may know nothing, and answers that any tenant may have
    /// changed.
    async fn catch_up(&self) {
        for _ in 0..10 {
            if self.changes().await.tenants.is_some() {
                return;
            }
        }
        fail("changes", &"names of tenants", &"none in ten calls", format_args!(""));
    }
}

/// A commit of any kind is announced to every process once it has returned, also if an earlier one of the same tenant
/// was announced.
pub async fn each_commit_is_announced_to_every_process(processes: Vec<Process>) {
    for committing in &processes {
        let tenant = TestTenant::fresh(Arc::clone(&committing.tenants)).await;
        for process in &processes {
            process.catch_up().await;
        }
        let author = tenant.author("ada").await;
        expect_announced(&processes, &tenant.id, "a member").await;
        let session = tenant.convened("aurora").await;
        expect_announced(&processes, &tenant.id, "a session").await;
        tenant.filed(&author, &session, "nonce").await;
        expect_announced(&processes, &tenant.id, "a take").await;
    }
}

/// Tenants that change at the same time, while feeds are read, are all announced.
pub async fn concurrent_commits_of_tenants_are_all_announced(processes: Vec<Process>) {
    for process in &processes {
        process.catch_up().await;
    }
    let committing = (0..TENANTS).map(|number| {
        let process = processes.get(number % processes.len()).unwrap().clone();
        tokio::spawn(async move {
            let tenant = TestTenant::fresh(process.tenants).await;
            tenant.create(&applicant("ada")).await;
            tenant.id
        })
    });
    let committing: Vec<_> = committing.collect();
    let mut announced = vec![Vec::new(); processes.len()];
    let mut changed = Vec::new();
    for commit in committing {
        for (process, announced) in processes.iter().zip(&mut announced) {
            announced.push(process.changes().await);
        }
        changed.push(commit.await.unwrap());
    }
    for (process, mut announced) in processes.iter().zip(announced) {
        announced.push(process.changes().await);
        let missing: Vec<_> =
            changed.iter().filter(|id| !announced.iter().any(|it| names(it, id))).collect();
        ensure!(missing.is_empty(), "all tenants are announced", missing);
    }
}

/// The time of a call is that of the store, as its commits have it.
pub async fn feed_has_the_time_of_the_store(processes: Vec<Process>) {
    for process in &processes {
        let tenant = TestTenant::fresh(Arc::clone(&process.tenants)).await;
        for _ in 0..2 {
            let before = tenant.now().await;
            let now = process.changes().await.now;
            let after = tenant.now().await;
            ensure!((before..=after).contains(&now), "between {before} and {after}", now);
            tenant.pass(after).await;
        }
    }
}

async fn expect_announced(processes: &[Process], tenant: &TenantId, what: &str) {
    for process in processes {
        let changes = process.changes().await;
        if !names(&changes, tenant) {
            fail("changes", tenant, &changes.tenants, format_args!("after {what}"));
        }
    }
}

/// Whether the tenant may have changed.
fn names(changes: &Changes, tenant: &TenantId) -> bool {
    changes.tenants.as_ref().is_none_or(|tenants| tenants.contains(tenant))
}
