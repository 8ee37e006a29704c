//! Faults of stores that went back.

use std::sync::{Arc, Mutex};

use swarm_core::Tenants;
use swarm_core::rules::Filing;
use swarm_core::store::Act;
use swarm_core::store::{Basis, BasisQuery, Filed, LogPosition, Result, async_trait};
use swarm_store_memory::MemoryStore;
use swarm_testing::conformance::{
    accepted_store_commits_again, store_with_lost_rows_refuses_commits,
    store_with_other_rows_refuses_commits, wiped_store_refuses_commits,
};

use crate::broken_stores::broken::{Broken, Fault, Intact, TenantStores};
use crate::broken_stores::expect_broken;

/// Commits to a store that lost rows are delayed, not refused.
#[derive(Default)]
struct LateWhenBack;

#[async_trait]
impl Fault for LateWhenBack {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        stores.own.file(filing).await.or(Ok(Filed::Late))
    }
}

/// The facts of a wiped store are read: nobody is known.
#[derive(Default)]
struct StrangersWhenBack;

#[async_trait]
impl Fault for StrangersWhenBack {
    async fn basis(&self, stores: &TenantStores, query: &BasisQuery<'_>) -> Result<Basis> {
        let now = stores.own.now().await?;
        let nobody = Basis { now, member: None, session: None, latest: None, spent: None };
        stores.own.basis(query).await.or(Ok(nobody))
    }
}

/// A log of the same length is taken for the same log.
#[derive(Default)]
struct LengthCompared;

#[async_trait]
impl Fault for LengthCompared {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let is_shorter = stores.own.log_position().await?.size < stores.own.seen_log().await?.size;
        match stores.own.file(filing).await {
            Err(_) if !is_shorter => Ok(Filed::Stale),
            outcome => outcome,
        }
    }
}

/// An acceptance is recorded without effect.
#[derive(Default)]
struct AcceptanceIdle;

#[async_trait]
impl Fault for AcceptanceIdle {
    async fn accept_store(&self, _: &TenantStores, _: &Act) -> Result<()> {
        Ok(())
    }
}

/// The log keeps its number after an acceptance.
#[derive(Default)]
struct NoOtherLog;

#[async_trait]
impl Fault for NoOtherLog {
    async fn log_position(&self, stores: &TenantStores) -> Result<LogPosition> {
        Ok(LogPosition { log: 1, ..stores.own.log_position().await? })
    }
}

/// Makes a test of each row: `name: fault, the case that catches it`.
macro_rules! caught {
    ($($test:ident: $fault:ident => $case:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $test() {
            let Desk { store, memory, backup } = Desk::with($fault::default());
            let back_up = async || *backup.lock().unwrap() = memory.copy();
            let restore = async || memory.restore(&backup.lock().unwrap());
            let again = async || Desk::again(&memory);
            expect_broken($case(store, back_up, restore, again)).await;
        }
    )*};
}

caught! {
    a_store_that_hides_that_it_lost_rows_is_caught:
        LateWhenBack => store_with_lost_rows_refuses_commits
    a_store_that_knows_nobody_any_more_is_caught:
        StrangersWhenBack => wiped_store_refuses_commits
    a_store_that_compares_lengths_alone_is_caught:
        LengthCompared => store_with_other_rows_refuses_commits
    a_store_that_cannot_be_accepted_is_caught:
        AcceptanceIdle => accepted_store_commits_again
    a_store_that_begins_no_other_log_is_caught:
        NoOtherLog => accepted_store_commits_again
}

/// A faulty store, the store behind the fault, and a backup of it.
struct Desk {
    store: Arc<dyn Tenants>,
    memory: MemoryStore,
    backup: Mutex<MemoryStore>,
}

impl Desk {
    fn with(fault: impl Fault) -> Self {
        let memory = MemoryStore::new();
        Self { store: Broken::over(memory.clone(), fault), memory, backup: Mutex::default() }
    }

    fn again(memory: &MemoryStore) -> Arc<dyn Tenants> {
        Broken::over(memory.opened_again(), Intact)
    }
}
