//! Held public keys.

use crate::assertions::expect_eq;
use crate::{TestTenant, applicant, count, creation, id, key, race, secret};
use swarm_core::domain::MemberState::{Applied, Approved, Claimed, Inactive, Rejected};
use swarm_core::domain::{Lens, Member};
use swarm_core::store::MemberSaved::{KeyHeld, Saved};
use swarm_core::store::{MemberChange, Store};

pub async fn held_key_blocks_other_members(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for state in [Applied, Approved, Claimed] {
        let holder = Member { state, ..applicant(state.as_str()) };
        tenant.create(&holder).await;
        for state in [Applied, Approved, Claimed] {
            let token = Some(secret("other"));
            let other = Member { id: id("other"), state, token, ..holder.clone() };
            expect_eq!(tenant.save_member(&creation(&other)).await, KeyHeld(holder.id.clone()));
        }
    }
    expect_eq!(tenant.member(&id("other")).await.member, None);
    expect_eq!(tenant.bearer(&secret("other")).await, None);
}

/// The refused member keeps its key and its token.
pub async fn change_to_a_held_key_is_refused(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    tenant.create(&Member { token: Some(secret("old")), ..applicant("grace") }).await;
    let on_file = tenant.stored(&id("grace")).await;
    let mut change = tenant.edited(&id("grace"), |grace| grace.token = Some(secret("new"))).await;
    change.member.public_key = Some(key("ada"));
    expect_eq!(tenant.save_member(&change).await, KeyHeld(id("ada")));
    expect_eq!(tenant.stored(&id("grace")).await, on_file);
    expect_eq!(tenant.bearer(&secret("old")).await, Some(on_file.record));
    expect_eq!(tenant.bearer(&secret("new")).await, None);
    expect_eq!(tenant.save_member(&with_key_of("grace")).await, KeyHeld(id("grace")));
}

pub async fn members_without_key_do_not_conflict(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    for state in [Rejected, Inactive] {
        let other = Member { state, ..with_key_of("ada").member };
        tenant.create(&Member { id: id(state.as_str()), ..other }).await;
    }
    for keyless in ["grace", "hedy"] {
        tenant.create(&Member { public_key: None, ..applicant(keyless) }).await;
    }
    expect_eq!(tenant.save_member(&with_key_of("ada")).await, KeyHeld(id("ada")));
}

pub async fn key_holder_may_save_again(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    for state in [Approved, Claimed, Inactive, Approved] {
        tenant.edit(&id("ada"), |ada| ada.state = state).await;
    }
    expect_eq!(tenant.save_member(&with_key_of("ada")).await, KeyHeld(id("ada")));
}

pub async fn released_key_is_free(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for (name, state, key) in [
        ("rejected", Rejected, Some(key("rejected"))),
        ("inactive", Inactive, Some(key("inactive"))),
        ("another key", Applied, Some(key("fresh"))),
        ("no key", Applied, None),
    ] {
        tenant.create(&applicant(name)).await;
        expect_eq!(tenant.save_member(&with_key_of(name)).await, KeyHeld(id(name)));
        tenant.edit(&id(name), |holder| (holder.state, holder.public_key) = (state, key)).await;
        tenant
            .create(&Member { id: id(&format!("after {name}")), ..with_key_of(name).member })
            .await;
    }
    expect_eq!(tenant.save_member(&with_key_of("fresh")).await, KeyHeld(id("another key")));
}

pub async fn reclaimed_key_conflicts_with_its_new_holder(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&Member { state: Inactive, ..applicant("ada") }).await;
    tenant.create(&Member { id: id("grace"), ..with_key_of("ada").member }).await;
    tenant.edit(&id("ada"), |ada| ada.lens = Lens::parse("away").unwrap()).await;
    let back = tenant.edited(&id("ada"), |ada| ada.state = Approved).await;
    expect_eq!(tenant.save_member(&back).await, KeyHeld(id("grace")));
    tenant.edit(&id("grace"), |grace| grace.state = Rejected).await;
    expect_eq!(tenant.save_member(&back).await, Saved);
}

pub async fn concurrent_applications_with_one_key_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let named = |racer: usize| id(&format!("member {racer}"));
    let apply = |racer: usize| {
        let (tenant, member) = (tenant.clone(), Member { id: named(racer), ..applicant("ada") });
        async move { tenant.save_member(&creation(&member)).await }
    };
    let outcomes = race((0..32).map(apply)).await;
    let won = named(outcomes.iter().position(|outcome| *outcome == Saved).unwrap());
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &KeyHeld(won))), (1, 31));
    expect_eq!(tenant.all_members().await.len(), 1);
}

/// The change that creates a new member with the key of the applicant with this name.
fn with_key_of(name: &str) -> MemberChange {
    creation(&Member { public_key: Some(key(name)), ..applicant("newcomer") })
}
