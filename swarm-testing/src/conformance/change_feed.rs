//! Change feeds: each process learns of the commits of all, so that background work need not poll.

use swarm_core::TenantId;
use swarm_core::store::{Changes, Store};

use crate::TestTenant;
use crate::assertions::{ensure, fail};
use crate::records::applicant;

/// How many tenants change at the same time.
const TENANTS: usize = 24;

/// Reads what happened so far. The first call of a feed may know nothing, and answers that any tenant may have changed.
async fn catch_up(process: &Store) {
    for _ in 0..10 {
        if changes(process).await.tenants.is_some() {
            return;
        }
    }
    fail("changes", &"names of tenants", &"none in ten calls", format_args!(""));
}

async fn changes(process: &Store) -> Changes {
    process.changes().await.unwrap()
}

/// A commit of any kind is announced to every process once it has returned, also if an earlier one of the same tenant
/// was announced.
pub async fn each_commit_is_announced_to_every_process(processes: Vec<Store>) {
    for committing in &processes {
        let tenant = TestTenant::fresh(committing.clone()).await;
        for process in &processes {
            catch_up(process).await;
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
pub async fn concurrent_commits_of_tenants_are_all_announced(processes: Vec<Store>) {
    for process in &processes {
        catch_up(process).await;
    }
    let committing = (0..TENANTS).map(|number| {
        let process = processes.get(number % processes.len()).unwrap().clone();
        tokio::spawn(async move {
            let tenant = TestTenant::fresh(process).await;
            tenant.create(&applicant("ada")).await;
            tenant.id
        })
    });
    let committing: Vec<_> = committing.collect();
    let mut announced = vec![Vec::new(); processes.len()];
    let mut changed = Vec::new();
    for commit in committing {
        for (process, announced) in processes.iter().zip(&mut announced) {
            announced.push(changes(process).await);
        }
        changed.push(commit.await.unwrap());
    }
    for (process, mut announced) in processes.iter().zip(announced) {
        announced.push(changes(process).await);
        let missing: Vec<_> =
            changed.iter().filter(|id| !announced.iter().any(|it| names(it, id))).collect();
        ensure!(missing.is_empty(), "all tenants are announced", missing);
    }
}

/// The time of a call is that of the store, as its commits have it.
pub async fn feed_has_the_time_of_the_store(processes: Vec<Store>) {
    for process in &processes {
        let tenant = TestTenant::fresh(process.clone()).await;
        for _ in 0..2 {
            let before = tenant.now().await;
            let now = changes(process).await.now;
            let after = tenant.now().await;
            ensure!((before..=after).contains(&now), "between {before} and {after}", now);
            tenant.pass(after).await;
        }
    }
}

async fn expect_announced(processes: &[Store], tenant: &TenantId, what: &str) {
    for process in processes {
        let changes = changes(process).await;
        if !names(&changes, tenant) {
            fail("changes", tenant, &changes.tenants, format_args!("after {what}"));
        }
    }
}

/// Whether the tenant may have changed.
fn names(changes: &Changes, tenant: &TenantId) -> bool {
    changes.tenants.as_ref().is_none_or(|tenants| tenants.contains(tenant))
}
