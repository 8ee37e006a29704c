//! Removal of members.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{World, applicant, id, key, secret};
use swarm_core::domain::MemberState::{Applied, Claimed};
use swarm_core::domain::{Member, Version};
use swarm_core::store::{ChallengeSlot, Countable, MemberRemoval, Saved, Tenants};

/// No index lists it, its key is free, and an id that is given again begins at version 1.
pub async fn removed_member_is_unknown(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for state in [Applied, Claimed] {
        let token = (state == Claimed).then(|| secret("ada"));
        let ada = Member { public_key: Some(key("ada")), state, token, ..applicant("ada") };
        world.create(&ada).await;
        world.create(&applicant("grace")).await;
        let challenge = world.live_challenge("ada").await;
        world.set_challenge(&ChallengeSlot::Member(id("ada")), &challenge).await;
        for name in ["ada", "grace"] {
            let removal = MemberRemoval { id: id(name), expected: Version(1) };
            expect_eq!(world.remove_member(&removal).await, Saved::Saved);
        }
        let basis = world.member(&id("ada")).await;
        expect_eq!((basis.member, basis.challenge), (None, None), "in state {state}");
        expect_eq!(world.bearer(&secret("ada")).await, None);
        expect_eq!(world.all_members().await, []);
        expect_eq!(world.count(Countable::Members(state)).await, 0);
        let hedy = Member { public_key: Some(key("ada")), ..applicant("hedy") };
        world.create(&hedy).await;
        let removal = MemberRemoval { id: id("hedy"), expected: Version(1) };
        expect_eq!(world.remove_member(&removal).await, Saved::Saved);
    }
}

pub async fn removal_at_another_version_is_stale(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    world.create(&applicant("ada")).await;
    world.edit(&id("ada"), |_| ()).await;
    let at = |name, version| MemberRemoval { id: id(name), expected: Version(version) };
    for removal in [at("ada", 1), at("ada", 3), at("grace", 1)] {
        expect_eq!(world.remove_member(&removal).await, Saved::Stale);
    }
    expect_eq!(world.stored(&id("ada")).await.version, Version(2));
    expect_eq!(world.all_members().await.len(), 1);
    expect_eq!(world.remove_member(&at("ada", 2)).await, Saved::Saved);
    expect_eq!(world.remove_member(&at("ada", 2)).await, Saved::Stale);
}
