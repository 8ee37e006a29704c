//! The memory store uses the given clock, to the millisecond.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::domain::{Challenge, SessionDraft};
use swarm_core::store::{
    ChallengeBucket, ChallengeOffer, ChallengeSlot, Filed, MemberChange, MemberSaved,
    ProvenChallenge,
};
use swarm_core::{TenantId, Timestamp};
use swarm_store_memory::MemoryStore;
use swarm_testing::{ManualClock, TestTenant, challenge, judged, moment, seed, session_draft};

#[tokio::test]
async fn deadline_is_inclusive_to_the_millisecond() {
    let (clock, tenant) = tenant();
    let ada = tenant.author("ada").await;
    let window_closes_at = Some(deadline());
    let session = SessionDraft { window_closes_at, ..session_draft("aurora") };
    let session = tenant.convene(&session).await;
    for (late, nonce) in [(0, "in time"), (1, "late")] {
        clock.set(deadline());
        let submission = ada.submission(&session, nonce);
        let filing = judged(&tenant.facts(&ada, &submission).await, &submission);
        clock.advance(late);
        match tenant.file(&filing).await {
            Filed::Filed(take, _) => assert_eq!((take.filed_at, late), (deadline(), 0)),
            outcome => assert_eq!((outcome, late), (Filed::Late, 1)),
        }
    }
}

#[tokio::test]
async fn challenge_expiry_is_exact_to_the_millisecond() {
    let (clock, tenant) = tenant();
    let ada = tenant.author("ada").await;
    let slot = ChallengeSlot::Member(ada.id.clone());
    tenant.set_challenge(&slot, &challenge("challenge", deadline())).await;
    for outcome in [MemberSaved::Saved, MemberSaved::Stale] {
        let proven = Some(ProvenChallenge(seed("challenge")));
        let change = MemberChange { proven, ..tenant.edited(&ada.id, |_| {}).await };
        assert_eq!(tenant.save_member(&change).await, outcome);
        clock.advance(1);
    }
}

#[tokio::test]
async fn challenge_reuse_ends_to_the_millisecond() {
    let (clock, tenant) = tenant();
    for (name, given) in [("first", "first"), ("second", "first"), ("third", "third")] {
        let fresh = Challenge { reusable_until: deadline(), ..challenge(name, deadline()) };
        let offer =
            ChallengeOffer { bucket: ChallengeBucket(0), fresh, slot: ChallengeSlot::Decoy };
        assert_eq!(tenant.give_challenge(&offer).await.seed, seed(given));
        clock.advance(i64::from(name == "second"));
    }
}

/// A tenant whose clock shows the deadline.
fn tenant() -> (ManualClock, TestTenant) {
    let clock = ManualClock::at(deadline());
    let hands = clock.clone();
    let store = MemoryStore::with_clock(move || hands.now());
    (clock, TestTenant::open(store, TenantId::parse("test").unwrap()))
}

fn deadline() -> Timestamp {
    moment("2026-11-21T22:45:00Z")
}
