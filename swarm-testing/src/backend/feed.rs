//! Announcements to other processes that have the same backend open.

use std::sync::Arc;

use swarm_core::store::Changes;
use swarm_core::store::backend::*;

use super::tenant::*;
use super::transfer::loading;
use crate::assertions::{ensure, fail};

/// Also if an earlier one of the same tenant was announced, and if it appends nothing to the log.
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
    }
}

/// An own commit that comes after one of another process does not hide it.
pub async fn commit_is_announced_that_an_own_one_follows(processes: Vec<Arc<dyn Backend>>) {
    for own in &processes {
        for committing in processes.iter().filter(|it| !Arc::ptr_eq(it, own)) {
            catch_up(&processes).await;
            let tenant = Tenant::fresh(committing).await;
            tenant.write(vec![parcel(1, &[])]).await;
            let (id, backend) = (tenant.id.clone(), Arc::clone(own));
            Tenant { id, backend }.write(vec![parcel(2, &[])]).await;
            let named = changes(own).await.tenants;
            let is_named = named.as_ref().is_none_or(|named| named.contains(&tenant.id));
            ensure!(is_named, "the tenant is announced", named);
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
