//! Reusable challenges: repeated requests receive the same one.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{World, applicant, challenge, id, moment, race};
use swarm_core::domain::{Challenge, Timestamp};
use swarm_core::store::{ChallengeBucket, ChallengeOffer, ChallengeSlot, Tenants};

const FAR: i64 = 600_000;

pub async fn reusable_challenge_is_given_again(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let first = reusable(&world, "first", FAR).await;
    expect_eq!(asked(&world, 1, &first, &ChallengeSlot::Decoy).await, first);
    for name in ["second", "third"] {
        let fresh = reusable(&world, name, 2 * FAR).await;
        expect_eq!(asked(&world, 1, &fresh, &ChallengeSlot::Decoy).await, first);
    }
}

pub async fn challenge_past_its_reuse_is_replaced(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let first = reusable(&world, "first", 20).await;
    expect_eq!(asked(&world, 1, &first, &ChallengeSlot::Decoy).await, first);
    world.pass(first.reusable_until).await;
    let second = reusable(&world, "second", FAR).await;
    expect_eq!(asked(&world, 1, &second, &ChallengeSlot::Decoy).await, second);
    expect_eq!(asked(&world, 1, &first, &ChallengeSlot::Decoy).await, second);
}

pub async fn challenge_buckets_are_independent(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let buckets = [0, 1, 10, 255, 256, u16::MAX];
    for _ in 0..2 {
        for bucket in buckets {
            let fresh =
                Challenge { reusable_until: far(), ..challenge(&bucket.to_string(), far()) };
            expect_eq!(asked(&world, bucket, &fresh, &ChallengeSlot::Decoy).await, fresh);
        }
    }
}

/// This holds even if it was given out as a decoy before the applicant was approved.
pub async fn reused_challenge_becomes_live_in_the_requested_slot(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    world.create(&applicant("ada")).await;
    let adas = ChallengeSlot::Member(id("ada"));
    let first = reusable(&world, "first", FAR).await;
    expect_eq!(asked(&world, 1, &first, &ChallengeSlot::Decoy).await, first);
    expect_eq!(world.member(&id("ada")).await.challenge, None);
    let second = reusable(&world, "second", FAR).await;
    expect_eq!(asked(&world, 1, &second, &adas).await, first);
    expect_eq!(world.member(&id("ada")).await.challenge, Some(first.clone()));
    expect_eq!(asked(&world, 2, &second, &ChallengeSlot::Decoy).await, second);
    expect_eq!(world.member(&id("ada")).await.challenge, Some(first));
}

pub async fn concurrent_requests_get_the_same_challenge(tenants: Arc<dyn Tenants>) {
    let world = &World::fresh(tenants).await;
    world.create(&applicant("ada")).await;
    let ask = |racer: usize| {
        let world = world.clone();
        async move {
            let fresh = reusable(&world, &racer.to_string(), FAR).await;
            asked(&world, 1, &fresh, &ChallengeSlot::Member(id("ada"))).await
        }
    };
    let given = race((0..32).map(ask)).await;
    let live = world.member(&id("ada")).await.challenge.unwrap();
    expect_eq!(given, vec![live; 32]);
}

/// A challenge with a seed of this name that is reusable for `millis` milliseconds, and valid for
/// longer.
async fn reusable(world: &World, name: &str, millis: i64) -> Challenge {
    let now = world.now().await;
    Challenge { reusable_until: now.plus_millis(millis), ..challenge(name, far()) }
}

fn far() -> Timestamp {
    moment("2999-12-31T00:00:00Z")
}

/// The challenge that a request receives.
async fn asked(world: &World, bucket: u16, fresh: &Challenge, slot: &ChallengeSlot) -> Challenge {
    let (fresh, slot) = (fresh.clone(), slot.clone());
    world.give_challenge(&ChallengeOffer { bucket: ChallengeBucket(bucket), fresh, slot }).await
}
