//! Two takes of a member that race for a revision, both judged by cached facts.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::store::{Filed, Filing, Intercepted, Interceptor, Result, Takes, async_trait};
use swarm_core::testing::World;
use swarm_core::{Error, Refusal};
use swarm_store_memory::MemoryStore;
use tokio::sync::Barrier;

/// Has filings begin by twos.
struct StartTogether {
    /// So many of them.
    armed: AtomicUsize,
    line: Barrier,
}

#[async_trait]
impl Interceptor for StartTogether {
    async fn file(&self, next: &dyn Takes, filing: &Filing) -> Result<Filed> {
        let one_less = |armed: usize| armed.checked_sub(1);
        if self.armed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
            self.line.wait().await;
        }
        next.file(filing).await
    }
}

#[tokio::test]
async fn of_two_takes_at_once_one_becomes_the_revision() {
    let start = Arc::new(StartTogether { armed: AtomicUsize::new(0), line: Barrier::new(2) });
    let store = Intercepted::new(MemoryStore::new(), Arc::clone(&start));
    let world = World::fresh(Arc::new(store)).await;
    let (ada, desk) = (world.author("ada").await, world.cached_service());
    let session = world.convened("aurora").await;
    let take = |nonce| ada.submission(&session, nonce);
    desk.submit(&ada.token, &take("first")).await.unwrap();

    start.armed.store(2, Ordering::Relaxed);
    let (one, other) = (take("one"), take("other"));
    let (one, other) = tokio::join!(desk.submit(&ada.token, &one), desk.submit(&ada.token, &other));
    let (filed, lost) = if one.is_ok() { (one, other) } else { (other, one) };
    assert_eq!(filed.unwrap().revision.get(), 2);
    assert!(matches!(lost, Err(Error::Refused(it)) if it.reason == Refusal::LostRace));

    // What another server files is no race, but news.
    world.service().submit(&ada.token, &take("elsewhere")).await.unwrap();
    assert_eq!(desk.submit(&ada.token, &take("after")).await.unwrap().revision.get(), 4);
}

/// What a server that has just started does not know is no race either.
#[tokio::test]
async fn of_two_takes_at_once_none_loses_to_one_that_was_there_before() {
    let start = Arc::new(StartTogether { armed: AtomicUsize::new(0), line: Barrier::new(2) });
    let store = Intercepted::new(MemoryStore::new(), Arc::clone(&start));
    let world = World::fresh(Arc::new(store)).await;
    let (ada, bob) = (world.author("ada").await, world.author("bob").await);
    let (aurora, borealis) = (world.convened("aurora").await, world.convened("borealis").await);
    world.service().submit(&ada.token, &ada.submission(&aurora, "before")).await.unwrap();

    let desk = world.cached_service();
    desk.submit(&bob.token, &bob.submission(&aurora, "bob")).await.unwrap();
    desk.submit(&ada.token, &ada.submission(&borealis, "known from here on")).await.unwrap();
    let here = ada.submission(&aurora, "here");
    let there = ada.submission(&borealis, "there");
    start.armed.store(2, Ordering::Relaxed);
    let (here, there) =
        tokio::join!(desk.submit(&ada.token, &here), desk.submit(&ada.token, &there));
    assert_eq!((here.unwrap().revision.get(), there.unwrap().revision.get()), (2, 2));
}

/// Nor do both lose, where the revision that they race for is out of date.
#[tokio::test]
async fn of_two_takes_at_once_one_wins_where_both_were_judged_by_facts_that_are_out_of_date() {
    let start = Arc::new(StartTogether { armed: AtomicUsize::new(0), line: Barrier::new(2) });
    let store = Intercepted::new(MemoryStore::new(), Arc::clone(&start));
    let world = World::fresh(Arc::new(store)).await;
    let (ada, desk) = (world.author("ada").await, world.cached_service());
    let session = world.convened("aurora").await;
    let take = |nonce| ada.submission(&session, nonce);
    desk.submit(&ada.token, &take("first")).await.unwrap();
    world.service().submit(&ada.token, &take("elsewhere")).await.unwrap();

    start.armed.store(4, Ordering::Relaxed);
    let (one, other) = (take("one"), take("other"));
    let (one, other) = tokio::join!(desk.submit(&ada.token, &one), desk.submit(&ada.token, &other));
    let (filed, lost) = if one.is_ok() { (one, other) } else { (other, one) };
    assert_eq!(filed.unwrap().revision.get(), 3);
    assert!(matches!(lost, Err(Error::Refused(it)) if it.reason == Refusal::LostRace));
}
