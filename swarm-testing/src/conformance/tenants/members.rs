//! Isolation of members with the same name, token and key in two tenants.

use std::sync::Arc;

use super::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{applicant, claimed, creation, id, key, secret, seed};
use swarm_core::domain::MemberState::{Claimed, Rejected};
use swarm_core::domain::{Challenge, Lens, Member, MemberState, Version};
use swarm_core::store::MemberSaved::{KeyHeld, Saved, Stale};
use swarm_core::store::{
    self, ChallengeBucket, ChallengeOffer, ChallengeSlot, MemberChange, MemberRemoval,
    ProvenChallenge, Store,
};

pub async fn members_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        tenant.create(&marked(mark)).await;
    }
    for (tenant, mark) in both(&pair) {
        let own = Arc::new(marked(mark));
        expect_eq!(tenant.stored(&own.id).await.record, own, "of tenant {mark}");
        expect_eq!(tenant.all_members().await, [Arc::clone(&own)], "of tenant {mark}");
        expect_eq!(tenant.members(&[Claimed]).await, [Arc::clone(&own)], "of tenant {mark}");
        expect_eq!(tenant.bearer(&secret("ada")).await, Some(own), "of tenant {mark}");
    }
}

/// Writes and versions of the other tenant have no effect.
pub async fn member_saves_are_isolated_by_tenant(tenants: Store) {
    let [one, other] = two_tenants(tenants).await;
    for tenant in [&one, &other] {
        tenant.create(&applicant("ada")).await;
    }
    for _ in 0..3 {
        one.edit(&id("ada"), |ada| ada.state = Claimed).await;
    }
    expect_eq!(*other.stored(&id("ada")).await.record, applicant("ada"));
    expect_eq!(other.stored(&id("ada")).await.version, Version(1));
    let at = |version| MemberChange {
        expected: Some(Version(version)),
        ..creation(&Member { state: Rejected, ..applicant("ada") })
    };
    expect_eq!(other.save_member(&at(4)).await, Stale);
    expect_eq!(one.save_member(&at(1)).await, Stale);
    expect_eq!(other.save_member(&at(1)).await, Saved);
    expect_eq!(one.stored(&id("ada")).await.version, Version(4));
    one.create(&applicant("grace")).await;
    expect_eq!(other.save_member(&creation(&applicant("grace"))).await, Saved);
}

pub async fn member_removals_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        tenant.create(&marked(mark)).await;
    }
    let [one, other] = &pair;
    let removal = MemberRemoval { id: id("ada"), expected: Version(1) };
    expect_eq!(one.remove_member(&removal).await, store::Saved::Saved);
    expect_eq!(other.bearer(&secret("ada")).await, Some(Arc::new(marked("other"))));
}

pub async fn held_keys_are_isolated_by_tenant(tenants: Store) {
    let [one, other] = two_tenants(tenants).await;
    let with_the_key =
        |name: &str| creation(&Member { public_key: Some(key("ada")), ..applicant(name) });
    expect_eq!(one.save_member(&with_the_key("ada")).await, Saved);
    expect_eq!(other.save_member(&with_the_key("grace")).await, Saved);
    expect_eq!(one.save_member(&with_the_key("hedy")).await, KeyHeld(id("ada")));
    expect_eq!(other.save_member(&with_the_key("hedy")).await, KeyHeld(id("grace")));
    one.edit(&id("ada"), |ada| ada.state = Rejected).await;
    expect_eq!(other.save_member(&with_the_key("hedy")).await, KeyHeld(id("grace")));
    expect_eq!(one.save_member(&with_the_key("hedy")).await, Saved);
}

pub async fn tokens_are_isolated_by_tenant(tenants: Store) {
    let [one, other] = two_tenants(tenants).await;
    for tenant in [&one, &other] {
        tenant.create(&claimed("ada")).await;
    }
    one.edit(&id("ada"), |ada| ada.token = Some(secret("new"))).await;
    expect_eq!(one.bearer(&secret("ada")).await, None);
    expect_eq!(other.bearer(&secret("ada")).await, Some(Arc::new(claimed("ada"))));
    expect_eq!(other.bearer(&secret("new")).await, None);
}

pub async fn live_challenges_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        tenant.create(&applicant("ada")).await;
        tenant
            .set_challenge(&ChallengeSlot::Member(id("ada")), &tenant.live_challenge(mark).await)
            .await;
    }
    for (tenant, mark) in both(&pair) {
        let shown = tenant.member(&id("ada")).await.challenge.map(|challenge| challenge.seed);
        expect_eq!(shown, Some(seed(mark)));
    }
    for ((tenant, mark), (_, foreign)) in both(&pair).into_iter().zip(both(&pair).into_iter().rev())
    {
        for (proof, outcome) in [(foreign, Stale), (mark, Saved)] {
            let mut claim = tenant.edited(&id("ada"), |ada| ada.state = Claimed).await;
            claim.proven = Some(ProvenChallenge(seed(proof)));
            expect_eq!(
                tenant.save_member(&claim).await,
                outcome,
                "proven by {proof} of tenant {mark}"
            );
        }
    }
}

pub async fn reusable_challenges_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for _ in 0..2 {
        for (tenant, mark) in both(&pair) {
            let reusable_until = tenant.now().await.plus_millis(600_000);
            let fresh = Challenge { reusable_until, ..tenant.live_challenge(mark).await };
            let offer =
                ChallengeOffer { bucket: ChallengeBucket(7), fresh, slot: ChallengeSlot::Decoy };
            expect_eq!(tenant.give_challenge(&offer).await.seed, seed(mark));
        }
    }
}

/// A claimed member with a text and a key that are distinct for each tenant.
fn marked(mark: &str) -> Member {
    let lens = Lens::parse(mark).unwrap();
    Member { lens, public_key: Some(key(mark)), state: MemberState::Claimed, ..claimed("ada") }
}
