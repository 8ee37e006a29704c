//! Announcements to other processes that have the same backend open.

use std::sync::Arc;

use swarm_core::store::Changes;
use swarm_core::store::backend::*;

use super::tenant::*;
use super::transfer::loading;
use crate::assertions::{ensure, fail};

/// Also if an earlier one of the same tenant was announced, and if it appends nothing to the log; a load and a removal too.
pub async fn each_commit_is_announced_to_other_processes(processes: Vec<Arc<dyn Backend>>) {
    for committing in &processes {
        catch_up(&processes).await;
        let tenant = Tenant::fresh(committing).await;
        for kind in [Kind::Usual, Kind::AcceptClock, Kind::AcceptLog] {
            tenant.write(vec![parcel(1, &[])]).await;
            expect_announced(&processes, &tenant, true).await;
            let entries = vec![entry("text")];
            tenant.committed(Transaction { kind, entries, ..transaction() }).await;
            expect_announced(&processes, &tenant, true).await;
        }
        let tenant = Tenant::fresh(committing).await;
        ensure!(loading(&tenant, 1).await.commit().await.unwrap().is_none(), "a load", tenant.id);
        expect_announced(&processes, &tenant, true).await;
        committing.remove(&tenant.id).await.unwrap();
        expect_announced(&processes, &tenant, true).await;
    }
}

/// The commit of the other process comes first, then its own, then it asks.
pub async fn own_commit_hides_none_of_another_process(processes: Vec<Arc<dyn Backend>>) {
    for other in &processes {
        for asking in processes.iter().filter(|process| !Arc::ptr_eq(process, other)) {
            catch_up(&processes).await;
            let tenant = Tenant::fresh(other).await;
            tenant.write(vec![parcel(1, &[])]).await;
            let own = Tenant { backend: Arc::clone(asking), id: tenant.id.clone() };
            own.write(vec![parcel(2, &[])]).await;
            expect_announced(&processes, &tenant, true).await;
        }
    }
}

pub async fn commit_aside_is_not_announced(processes: Vec<Arc<dyn Backend>>) {
    for committing in &processes {
        let tenant = Tenant::fresh(committing).await;
        catch_up(&processes).await;
        let (kind, writes) = (Kind::Aside, vec![parcel(1, &[])]);
        tenant.committed(Transaction { kind, writes, ..transaction() }).await;
        expect_announced(&processes, &tenant, false).await;
    }
}

/// It is the time of the same clock as that of a reading.
pub async fn feed_has_the_time_of_the_clock(processes: Vec<Arc<dyn Backend>>) {
    for process in &processes {
        let tenant = Tenant::fresh(process).await;
        let before = tenant.clock().await;
        let now = changes(process).await.now;
        let after = tenant.clock().await;
        ensure!((before..=after).contains(&now), "between {before} and {after}", now);
    }
}

/// Reads what happened so far. The first call of a feed may know nothing, and answers that any tenant may have changed.
async fn catch_up(processes: &[Arc<dyn Backend>]) {
    for process in processes {
        let mut calls = 0;
        while changes(process).await.tenants.is_none() {
            calls += 1;
            ensure!(calls < 10, "names of tenants", calls);
        }
    }
}

/// Expects that the feeds of all other processes name the tenant, or that no feed does. A feed may also say that any tenant
/// may have changed.
async fn expect_announced(processes: &[Arc<dyn Backend>], tenant: &Tenant, is_announced: bool) {
    for process in processes {
        let Some(tenants) = changes(process).await.tenants else { continue };
        let is_named = tenants.contains(&tenant.id);
        let is_own = Arc::ptr_eq(process, &tenant.backend);
        if is_named != is_announced && !(is_announced && is_own) {
            fail("announced", &is_announced, &tenants, format_args!("{}", tenant.id.as_str()));
        }
    }
}

async fn changes(process: &Arc<dyn Backend>) -> Changes {
    process.changes().await.unwrap()
}
