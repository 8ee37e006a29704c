//! Quotas of members in a state.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{World, applicant, count, creation, id, key, race, secret};
use swarm_core::domain::Member;
use swarm_core::domain::MemberState::{Applied, Approved, Claimed};
use swarm_core::store::MemberSaved::{Full, KeyHeld, Saved, Stale};
use swarm_core::store::{MemberChange, Tenants};

pub async fn quota_of_members_in_a_state_is_enforced(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for name in ["approved", "claimed"] {
        let state = if name == "approved" { Approved } else { Claimed };
        world.create(&Member { state, ..applicant(name) }).await;
    }
    expect_eq!(world.save_member(&within(0, &applicant("ada"))).await, Full);
    for (name, outcome) in [("ada", Saved), ("grace", Saved), ("hedy", Full)] {
        expect_eq!(world.save_member(&within(2, &applicant(name))).await, outcome, "for {name}");
    }
    expect_eq!(world.member(&id("hedy")).await.member, None);
    let ada = world.edited(&id("ada"), |ada| ada.token = Some(secret("token"))).await;
    let ada = MemberChange { quota: Some(2), ..ada };
    expect_eq!(world.save_member(&ada).await, Saved, "itself is not counted");
    let same_key = Member { public_key: Some(key("ada")), ..applicant("hedy") };
    expect_eq!(world.save_member(&within(2, &same_key)).await, KeyHeld(id("ada")));
    expect_eq!(world.save_member(&within(2, &applicant("ada"))).await, Stale);
    world.edit(&id("ada"), |ada| ada.state = Approved).await;
    expect_eq!(world.save_member(&within(2, &applicant("hedy"))).await, Saved);
    world.create(&applicant("whoever has no quota")).await;
}

pub async fn concurrent_applications_do_not_exceed_the_quota(tenants: Arc<dyn Tenants>) {
    let world = &World::fresh(tenants).await;
    world.create(&Member { state: Applied, ..applicant("ada") }).await;
    let apply = |racer: usize| {
        let world = world.clone();
        async move { world.save_member(&within(8, &applicant(&racer.to_string()))).await }
    };
    let outcomes = race((0..32).map(apply)).await;
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &Full)), (7, 25));
    expect_eq!(world.members(&[Applied]).await.len(), 8);
}

/// The change that creates this member, with a quota for its state.
fn within(quota: u32, member: &Member) -> MemberChange {
    MemberChange { quota: Some(quota), ..creation(member) }
}
