//! Faults of durability: stores that forget when they are closed.

use swarm_core::domain::MemberId;
use swarm_core::store::{Basis, BasisQuery, MemberBasis, Result, async_trait};
use swarm_store_memory::MemoryStore;
use swarm_testing::conformance::{guards_survive_reopening, records_survive_reopening};

use crate::broken_stores::broken::{Broken, Fault, Intact, TenantStores};
use crate::broken_stores::expect_broken;
use crate::broken_stores::tenants::fault;

/// The cases that catch these faults.
pub(crate) const CASES: &[&str] = &["records_survive_reopening", "guards_survive_reopening"];

fault!(ChallengesForgotten: member(stores, id: &MemberId) -> MemberBasis {
    Ok(MemberBasis { challenge: None, ..stores.own.member(id).await? })
});

fault!(NoncesForgotten: basis(stores, query: &BasisQuery<'_>) -> Basis {
    Ok(Basis { spent: None, ..stores.own.basis(query).await? })
});

#[tokio::test]
async fn what_is_kept_is_found_again() {
    for case in [0, 1] {
        let memory = MemoryStore::new();
        let (first, again) = (Broken::over(memory.clone(), Intact), Broken::over(memory, Intact));
        match case {
            0 => records_survive_reopening(first, async || again).await,
            _ => guards_survive_reopening(first, async || again).await,
        }
    }
}

#[tokio::test]
async fn a_store_that_forgets_everything_is_caught() {
    let (first, empty) = (Broken::store(Intact), Broken::store(Intact));
    expect_broken(records_survive_reopening(first, async || empty)).await;
}

#[tokio::test]
async fn a_store_that_forgets_challenges_is_caught() {
    let memory = MemoryStore::new();
    let (first, again) =
        (Broken::over(memory.clone(), Intact), Broken::over(memory, ChallengesForgotten));
    expect_broken(records_survive_reopening(first, async || again)).await;
}

#[tokio::test]
async fn a_store_that_forgets_nonces_is_caught() {
    let memory = MemoryStore::new();
    let (first, again) =
        (Broken::over(memory.clone(), Intact), Broken::over(memory, NoncesForgotten));
    expect_broken(guards_survive_reopening(first, async || again)).await;
}
