//! Two takes of a member that race for a revision, both judged by cached facts.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::store::backend::{Backend, CommitOutcome, Operation, Transaction};
use swarm_core::store::{Interceptor, Result, async_trait};
use swarm_core::{Error, Refusal, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::TestTenant;
use tokio::sync::Barrier;

use crate::backend::time;

/// A store in which filings start in pairs.
struct StartTogether {
    /// How many more filings wait for their pair.
    armed: AtomicUsize,
    line: Barrier,
}

#[async_trait]
impl Interceptor for StartTogether {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let one_less = |armed: usize| armed.checked_sub(1);
        if op == "file"
            && self.armed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
        {
            self.line.wait().await;
        }
        next.commit(tenant, op, transaction).await
    }
}

async fn tenant() -> (Arc<StartTogether>, TestTenant) {
    let start = Arc::new(StartTogether { armed: AtomicUsize::new(0), line: Barrier::new(2) });
    let store = MemoryStore::with_clock(time).intercepted(Arc::clone(&start));
    (start, TestTenant::fresh(store).await)
}

/// Two takes that race for an outdated revision are judged again, so that one wins.
#[tokio::test]
async fn concurrent_takes_one_wins_the_revision() {
    for (elsewhere, filings, revision) in [(false, 2, 2), (true, 4, 3)] {
        let (start, tenant) = tenant().await;
        let (ada, desk) = (tenant.author("ada").await, tenant.cached_service());
        let session = tenant.convened("aurora").await;
        let take = |nonce| ada.submission(&session, nonce);
        desk.submit(&ada.token, &take("first")).await.unwrap();
        if elsewhere {
            tenant.service().submit(&ada.token, &take("elsewhere")).await.unwrap();
        }

        start.armed.store(filings, Ordering::Relaxed);
        let takes = [take("one"), take("other")];
        let [one, other] = takes.each_ref().map(|take| desk.submit(&ada.token, take));
        let (one, other) = tokio::join!(one, other);
        let (filed, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        assert_eq!(filed.unwrap().revision.get(), revision);
        assert!(matches!(lost, Err(Error::Refused(it)) if it.reason == Refusal::LostRace));

        // A take of another server is not a lost race.
        tenant.service().submit(&ada.token, &take("news")).await.unwrap();
        assert_eq!(
            desk.submit(&ada.token, &take("after")).await.unwrap().revision.get(),
            revision + 2
        );
    }
}

/// Nor is a take that a newly started server does not know.
#[tokio::test]
async fn no_race_is_lost_to_an_earlier_take() {
    let (start, tenant) = tenant().await;
    let (ada, bob) = (tenant.author("ada").await, tenant.author("bob").await);
    let (aurora, borealis) = (tenant.convened("aurora").await, tenant.convened("borealis").await);
    tenant.service().submit(&ada.token, &ada.submission(&aurora, "before")).await.unwrap();

    let desk = tenant.cached_service();
    desk.submit(&bob.token, &bob.submission(&aurora, "bob")).await.unwrap();
    desk.submit(&ada.token, &ada.submission(&borealis, "known from here on")).await.unwrap();
    let here = ada.submission(&aurora, "here");
    let there = ada.submission(&borealis, "there");
    start.armed.store(2, Ordering::Relaxed);
    let (here, there) =
        tokio::join!(desk.submit(&ada.token, &here), desk.submit(&ada.token, &there));
    assert_eq!((here.unwrap().revision.get(), there.unwrap().revision.get()), (2, 2));
}
