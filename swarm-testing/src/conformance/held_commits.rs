//! Commits that wait for their critical section.

use std::time::Duration;

use swarm_core::TenantId;
use swarm_core::store::{Filed, Store};

use crate::TestTenant;
use crate::assertions::expect_eq;

/// A take waits for the critical section until its deadline has passed: it is late. A store that reads its clock
/// before it waits files it.
///
/// `hold` enters the critical section of the tenant's commits, and leaves it when what it returns is dropped. Reads
/// must go on meanwhile.
pub async fn wait_of_a_commit_counts_towards_its_deadline<H>(
    tenants: Store,
    hold: impl AsyncFnOnce(&TenantId) -> H,
) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let deadline = tenant.now().await.plus_millis(3_000);
    tenant.amend(session.id, |session| session.window_closes_at = Some(deadline)).await;
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;

    let held = hold(&tenant.id).await;
    let waiting = tokio::spawn({
        let tenant = tenant.clone();
        async move { tenant.file(&filing).await }
    });
    tenant.pass(deadline).await;
    // The call has been sent long ago; if it was not, it is late too.
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(held);
    expect_eq!(waiting.await.unwrap(), Filed::Late);
    tenant.assert_unfiled(&author, &session, "nonce").await;
}
