//! Members and their keys.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{TestCommittee, creation, draft, id, key, member};
use crate::{FIRST, count, race};
use swarm_core::domain::committee::{CommitteeMember, CommitteeStatus, Voice};
use swarm_core::domain::{Actor, Lens, Name, Timestamp};
use swarm_core::rules::Versioned;
use swarm_core::store::{CommitteeMemberChange, Saved, Store};

pub async fn committee_is_initially_empty(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    expect_eq!(tenant.members().await, []);
    let facts = tenant.basis(&key("ada").hash()).await;
    expect_eq!((facts.member, facts.session), (None, None));
}

pub async fn member_round_trips(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let odd = "\u{0}\r\n\"\\\u{1f680} {} \u{202e}";
    let full = CommitteeMember {
        name: Name::parse(odd).unwrap(),
        lens: Lens::parse(odd.repeat(3)).unwrap(),
        voice: Voice::parse(odd.repeat(5)).unwrap(),
        status: CommitteeStatus::Inactive,
        created_at: Timestamp::EPOCH.plus_millis(1_795_301_100_123),
        ..member("a_d-a0")
    };
    expect_eq!(tenant.save_member(&creation(&full)).await, Saved::Saved);
    let on_file = Versioned { version: FIRST, record: Arc::new(full.clone()) };
    expect_eq!(tenant.basis(&full.key).await.member.as_ref(), Some(&on_file));
    expect_eq!(tenant.members().await, std::slice::from_ref(&on_file));
    expect_eq!(tenant.member(&full.id).await, Some(on_file));

    let plain = CommitteeMember { id: full.id, ..member("other") };
    let change =
        CommitteeMemberChange { member: plain.clone(), expected: Some(FIRST), operator_act: None };
    expect_eq!(tenant.save_member(&change).await, Saved::Saved);
    let on_file = Versioned { version: FIRST.next(), record: Arc::new(plain) };
    expect_eq!(tenant.members().await, [on_file]);
}

pub async fn members_are_listed_by_id(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    for name in ["b", "a_", "a", "a-", "0", "aa", "a0"] {
        expect_eq!(tenant.save_member(&creation(&member(name))).await, Saved::Saved);
    }
    let members = tenant.members().await;
    let ids: Vec<_> = members.iter().map(|member| member.record.id.as_str()).collect();
    expect_eq!(ids, ["0", "a", "a-", "a0", "a_", "aa", "b"]);
    for member in members {
        expect_eq!(tenant.member(&member.record.id).await.as_ref(), Some(&member));
    }
    expect_eq!(tenant.member(&id("ab")).await, None);
}

pub async fn member_is_created_once(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
    let again = CommitteeMember { key: key("other").hash(), ..member("ada") };
    expect_eq!(tenant.save_member(&creation(&again)).await, Saved::Stale);
    expect_eq!(*tenant.members().await[0].record, member("ada"));
    expect_eq!(tenant.basis(&key("other").hash()).await.member, None);
}

pub async fn member_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let stranger =
        CommitteeMemberChange { member: member("ada"), expected: Some(FIRST), operator_act: None };
    expect_eq!(tenant.save_member(&stranger).await, Saved::Stale);
    expect_eq!(tenant.members().await, []);
    expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
    let change = CommitteeMemberChange { expected: Some(FIRST.next()), ..stranger };
    expect_eq!(tenant.save_member(&change).await, Saved::Stale);
}

pub async fn replaced_key_stops_working(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let old = tenant.seat("ada").await;
    let other = tenant.seat("grace").await;
    let new = tenant.service().rotate_member_key(&id("ada"), &Actor::OPERATOR).await.unwrap();
    expect_eq!(tenant.basis(&old.hash()).await.member, None);
    for (key, name) in [(new, "ada"), (other, "grace")] {
        let found = tenant.basis(&key.hash()).await.member.unwrap();
        expect_eq!(found.record.id, id(name));
    }
}

pub async fn key_finds_members_of_every_status(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    for status in [CommitteeStatus::Inactive, CommitteeStatus::Active] {
        tenant.service().set_member_status(&id("ada"), status, &Actor::OPERATOR).await.unwrap();
        let found = tenant.basis(&key.hash()).await.member.unwrap();
        expect_eq!(found.record.status, status);
    }
}

pub async fn concurrent_creations_of_a_member_commit_once(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let create = |_| {
        let service = tenant.service();
        async move { service.create_member(&draft("ada"), &Actor::OPERATOR).await.ok() }
    };
    let keys = race((0..32).map(create)).await;
    let won: Vec<_> = keys.into_iter().flatten().collect();
    expect_eq!(won.len(), 1);
    expect_eq!(tenant.members().await[0].record.key, won[0].hash());
}

pub async fn concurrent_member_saves_commit_once(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
    let save = |racer: u32| {
        let member = CommitteeMember { key: key(&racer.to_string()).hash(), ..member("ada") };
        let change = CommitteeMemberChange { member, expected: Some(FIRST), operator_act: None };
        let tenant = tenant.clone();
        async move { tenant.save_member(&change).await }
    };
    let outcomes = race((0..32).map(save)).await;
    expect_eq!((count(&outcomes, &Saved::Saved), count(&outcomes, &Saved::Stale)), (1, 31));
    expect_eq!(tenant.members().await[0].version, FIRST.next());
}

pub async fn concurrent_rotations_leave_one_key(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.seat("ada").await;
    let rotate = |_| {
        let service = tenant.service();
        async move { service.rotate_member_key(&id("ada"), &Actor::OPERATOR).await.unwrap() }
    };
    let mut live = 0;
    for key in race((0..8).map(rotate)).await {
        live += usize::from(tenant.basis(&key.hash()).await.member.is_some());
    }
    expect_eq!(live, 1);
}
