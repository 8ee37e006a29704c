//! An observer of commits whose callers are dropped.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_core::{Commit, CommittedRecord, Swarm, SystemEntropy, TenantId};
use swarm_store_sqlite::SqliteStore;
use swarm_testing::application;
use tokio::time::sleep;

/// More than a dropped commit needs to reach the disk.
const SETTLED: Duration = Duration::from_millis(500);

/// The number of calls, each dropped a little later than the one before.
const CALLS: u64 = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn observer_hears_of_each_commit_whose_caller_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("swarm.db")).unwrap();
    let told = Arc::new(Mutex::new(BTreeSet::new()));
    let hears = Arc::clone(&told);
    let observer = move |_: &TenantId, commit: Commit<'_>| {
        if let CommittedRecord::Member(member) = commit.record {
            hears.lock().unwrap().insert(member.id.clone());
        }
    };
    let swarm =
        Swarm::new(store, SystemEntropy).observed_by(observer, |task| drop(tokio::spawn(task)));
    let tenant = swarm.tenant(&TenantId::parse("acme").unwrap());

    let mut answered = 0;
    for number in 0..CALLS {
        let application = application(&number.to_string());
        let caller = tenant.clone();
        let call = tokio::spawn(async move { caller.apply(application).await });
        // A timer is too coarse: a call takes less than a millisecond.
        tokio::task::spawn_blocking(move || {
            std::thread::sleep(Duration::from_micros(20 * number));
        })
        .await
        .unwrap();
        call.abort();
        answered += u64::from(call.await.is_ok());
    }
    sleep(SETTLED).await;

    let page = tenant.applications(None, None, usize::MAX).await.unwrap();
    let stored: BTreeSet<_> = page.applications.iter().map(|member| member.id.clone()).collect();
    assert!(answered < CALLS, "no call was dropped");
    assert!(!stored.is_empty(), "nothing was committed");
    assert_eq!(*told.lock().unwrap(), stored, "{answered} calls were answered");
}
