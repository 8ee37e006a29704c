//! Members, their tokens, their removal, and the quota of members in a state.

mod challenges;
mod keys;

use std::sync::Arc;

use swarm_core::domain::MemberState::{Applied, Approved, Claimed, Inactive, Rejected};
use swarm_core::domain::{Contact, Digest, Lens, Member, MemberState, Name, Timestamp, Version};
use swarm_core::store::MemberSaved::{Full, KeyHeld, Saved, Stale};
use swarm_core::store::{
    ChallengeSlot, Countable, MemberChange, MemberQuery, MemberRemoval, Saved as Outcome, Store,
};

use crate::assertions::{ensure, expect_eq};
use crate::{
    FIRST, TestTenant, applicant, count, creation, id, key, moment, odd_texts, race, secret,
};

pub use challenges::*;
pub use keys::*;

const NOBODY: &[&str] = &[];

pub async fn unknown_member_is_none(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.all_members().await, []);
    tenant.create(&applicant("ada")).await;
    let basis = tenant.member(&id("grace")).await;
    expect_eq!((basis.member, basis.challenge), (None, None));
    expect_eq!(tenant.bearer(&secret("grace")).await, None);
}

/// Optional fields can be removed and added by later saves.
pub async fn member_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let odd = "\u{0} e\u{301}\r\n\u{1f680}\u{ffff}\"\\ ";
    let full = Member {
        name: Name::parse(odd).unwrap(),
        contact: Contact::parse(format!("{odd}@")).unwrap(),
        lens: Lens::parse("\u{1f680}".repeat(2_000)).unwrap(),
        state: Claimed,
        applied_at: moment("0000-01-01T00:00:00.001Z"),
        reviewed_at: Some(moment("9999-12-31T23:59:59.999Z")),
        joined_at: Some(moment("1969-12-31T23:59:59.999Z")),
        claimed_at: Some(Timestamp::EPOCH),
        token: Some(secret("token")),
        token_claimed_at: Some(moment("2026-11-21T12:00:00.001Z")),
        used_claim: Some(Digest::of(b"claim")),
        ..applicant("ada")
    };
    let bare = Member { public_key: None, ..applicant("ada") };
    let (name, contact, lens) = (Name::erased(), Contact::erased(), Lens::none());
    let erased = Member { name, contact, lens, ..applicant("ada") };
    tenant.create(&full).await;
    for member in [&full, &bare, &erased, &full] {
        tenant.edit(&full.id, |on_file| on_file.clone_from(member)).await;
        expect_eq!(*tenant.stored(&full.id).await.record, *member);
        expect_eq!(tenant.all_members().await, [Arc::new(member.clone())]);
    }
    expect_eq!(tenant.bearer(&secret("token")).await, Some(Arc::new(full)));
}

pub async fn odd_member_ids_are_distinct(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let odd = odd_texts().into_iter().map(|text| Member {
        name: Name::parse(&*text).unwrap(),
        token: Some(secret(&text)),
        ..applicant(&text)
    });
    let odd: Vec<Member> = odd.collect();
    for member in &odd {
        tenant.create(member).await;
    }
    let mut ids: Vec<_> = odd.iter().map(|member| member.id.to_string()).collect();
    ids.sort();
    expect_eq!(listed(&tenant, &[Applied]).await, ids);
    for member in &odd {
        expect_eq!(*tenant.stored(&member.id).await.record, *member);
        expect_eq!(tenant.bearer(&member.token.unwrap()).await.as_deref(), Some(member));
    }
}

pub async fn members_are_listed_by_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(listed(&tenant, &MemberState::ALL).await, NOBODY);
    for state in MemberState::ALL {
        for number in 1..=2 {
            tenant.create(&Member { state, ..applicant(&format!("{state} {number}")) }).await;
        }
    }
    expect_eq!(listed(&tenant, &[]).await, NOBODY);
    for state in MemberState::ALL {
        let both = [format!("{state} 1"), format!("{state} 2")];
        expect_eq!(listed(&tenant, &[state]).await, both);
    }
    let active = ["approved 1", "approved 2", "claimed 1", "claimed 2"];
    expect_eq!(listed(&tenant, &[Claimed, Approved]).await, active);
    expect_eq!(listed(&tenant, &MemberState::ALL).await.len(), 10);
}

pub async fn member_pages_are_complete(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut names = odd_texts();
    for (name, state) in names.iter().zip([Applied, Approved, Rejected].into_iter().cycle()) {
        tenant.create(&Member { state, ..applicant(name) }).await;
    }
    names.sort();
    let states = MemberState::ALL.to_vec();
    let mut query = MemberQuery { states, ids: None, after: None, limit: 7 };
    for page in names.chunks(7) {
        let members = tenant.found_members(&query).await;
        expect_eq!(members.iter().map(|it| it.id.to_string()).collect::<Vec<_>>(), page);
        query.after = members.last().map(|member| member.id.clone());
    }
    expect_eq!(tenant.found_members(&query).await, []);
    query = MemberQuery { after: Some(id("nobody")), ..MemberQuery::in_states(&[Approved]) };
    let members = tenant.found_members(&query).await;
    ensure!(members.iter().all(|it| it.id > id("nobody")), "those after an id of nobody", members);
    ensure!(members.iter().all(|it| it.state == Approved), "those in the state", members);
}

pub async fn members_are_found_by_id(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut names = odd_texts();
    for (name, state) in names.iter().zip([Applied, Approved, Claimed].into_iter().cycle()) {
        tenant.create(&Member { state, ..applicant(name) }).await;
    }
    let ids = |names: &[String]| Some(names.iter().rev().map(|name| id(name)).collect::<Vec<_>>());
    let all = MemberQuery::in_states(&MemberState::ALL);
    let found = async |query: MemberQuery| {
        let members = tenant.found_members(&query).await;
        members.iter().map(|member| member.id.to_string()).collect::<Vec<_>>()
    };
    let unknown = [&names[..], &["nobody".to_owned()]].concat();
    let some = MemberQuery { ids: ids(&names[..4]), ..all.clone() };
    let mut first = names[..4].to_vec();
    first.sort();
    expect_eq!(found(some.clone()).await, first);
    expect_eq!(found(MemberQuery { limit: 2, ..some.clone() }).await, first[..2]);
    expect_eq!(found(MemberQuery { after: Some(id(&first[0])), ..some.clone() }).await, first[1..]);
    expect_eq!(found(MemberQuery { states: vec![Applied], ..some }).await.len(), 2);
    expect_eq!(found(MemberQuery { ids: Some(Vec::new()), ..all.clone() }).await, NOBODY);
    names.sort();
    expect_eq!(found(MemberQuery { ids: ids(&unknown), ..all }).await, names);
}

pub async fn member_is_listed_in_its_latest_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    tenant.create(&applicant("grace")).await;
    for state in [Approved, Claimed, Claimed, Inactive, Rejected, Applied, Claimed] {
        let mut moved = tenant.edited(&id("ada"), |ada| ada.state = state).await;
        expect_eq!(tenant.save_member(&moved).await, Saved);
        let others: Vec<_> = MemberState::ALL.into_iter().filter(|it| *it != state).collect();
        expect_eq!(
            listed(&tenant, &others).await,
            if state == Applied { NOBODY } else { &["grace"] }
        );
        moved.member.state = Rejected;
        expect_eq!(tenant.save_member(&moved).await, Stale);
        let there = listed(&tenant, &[state]).await;
        ensure!(there.contains(&"ada".to_owned()), "ada, in the state of her last commit", there);
        expect_eq!(listed(&tenant, &MemberState::ALL).await, ["ada", "grace"]);
    }
}

pub async fn member_is_created_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let on_file = tenant.stored(&id("ada")).await;
    let again = Member {
        state: Claimed,
        public_key: Some(key("another")),
        token: Some(secret("another")),
        ..applicant("ada")
    };
    expect_eq!(tenant.save_member(&creation(&again)).await, Stale);
    expect_eq!(tenant.stored(&id("ada")).await, on_file);
    expect_eq!(tenant.bearer(&secret("another")).await, None);
    tenant.create(&applicant("another")).await;
}

pub async fn member_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    for _ in 1..12 {
        tenant.edit(&id("ada"), |ada| ada.state = Approved).await;
    }
    let on_file = tenant.stored(&id("ada")).await;
    expect_eq!(on_file.version, Version(12));
    for version in [0, 1, 2, 11, 13, 120, u64::MAX] {
        let mut change = tenant.edited(&id("ada"), |ada| ada.token = Some(secret("token"))).await;
        change.expected = Some(Version(version));
        expect_eq!(tenant.save_member(&change).await, Stale);
    }
    expect_eq!(tenant.stored(&id("ada")).await, on_file);
    expect_eq!(tenant.bearer(&secret("token")).await, None);
}

pub async fn member_change_does_not_create_a_member(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for version in [0, 1] {
        let expected = Some(Version(version));
        let change = MemberChange { expected, ..creation(&applicant("ada")) };
        expect_eq!(tenant.save_member(&change).await, Stale);
    }
    expect_eq!(tenant.all_members().await, []);
}

pub async fn each_save_increments_the_member_version(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    tenant.create(&applicant("grace")).await;
    for version in 1..=12 {
        expect_eq!(tenant.stored(&id("ada")).await.version, Version(version));
        tenant.edit(&id("ada"), |_| {}).await;
    }
    expect_eq!(tenant.stored(&id("grace")).await.version, FIRST);
}

pub async fn bearer_finds_members_in_every_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    tenant.edit(&id("ada"), |ada| ada.token = Some(secret("token"))).await;
    for state in [Applied, Approved, Claimed, Rejected, Inactive] {
        tenant.edit(&id("ada"), |ada| ada.state = state).await;
        let bearer = tenant.bearer(&secret("token")).await;
        expect_eq!(bearer, Some(tenant.stored(&id("ada")).await.record));
    }
}

pub async fn replaced_token_stops_working_at_the_commit(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&Member { token: Some(secret("first")), ..applicant("ada") }).await;
    tenant.edit(&id("ada"), |ada| ada.token = Some(secret("second"))).await;
    expect_eq!(tenant.bearer(&secret("first")).await, None);
    expect_eq!(tenant.bearer(&secret("second")).await.unwrap().id, id("ada"));
    tenant.edit(&id("ada"), |ada| ada.token = None).await;
    expect_eq!(tenant.bearer(&secret("second")).await, None);
}

pub async fn concurrent_creations_of_a_member_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let create = |racer: usize| {
        let public_key = Some(key(&format!("key {racer}")));
        let (tenant, member) = (tenant.clone(), Member { public_key, ..applicant("ada") });
        async move { tenant.save_member(&creation(&member)).await }
    };
    let outcomes = race((0..32).map(create)).await;
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &Stale)), (1, 31));
    expect_eq!(tenant.stored(&id("ada")).await.version, FIRST);
}

/// The ids of the members in these states.
async fn listed(tenant: &TestTenant, states: &[MemberState]) -> Vec<String> {
    let members = tenant.members(states).await;
    members.iter().map(|member| member.id.to_string()).collect()
}

/// No index lists it, its key is free, and an id that is given again begins at version 1.
pub async fn removed_member_is_unknown(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for state in [Applied, Claimed] {
        let token = (state == Claimed).then(|| secret("ada"));
        let ada = Member { public_key: Some(key("ada")), state, token, ..applicant("ada") };
        tenant.create(&ada).await;
        tenant.create(&applicant("grace")).await;
        let challenge = tenant.live_challenge("ada").await;
        tenant.set_challenge(&ChallengeSlot::Member(id("ada")), &challenge).await;
        for name in ["ada", "grace"] {
            let removal = MemberRemoval { id: id(name), expected: Version(1) };
            expect_eq!(tenant.remove_member(&removal).await, Outcome::Saved);
        }
        let basis = tenant.member(&id("ada")).await;
        expect_eq!((basis.member, basis.challenge), (None, None), "in state {state}");
        expect_eq!(tenant.bearer(&secret("ada")).await, None);
        expect_eq!(tenant.all_members().await, []);
        expect_eq!(tenant.count(Countable::Members(state)).await, 0);
        let hedy = Member { public_key: Some(key("ada")), ..applicant("hedy") };
        tenant.create(&hedy).await;
        let removal = MemberRemoval { id: id("hedy"), expected: Version(1) };
        expect_eq!(tenant.remove_member(&removal).await, Outcome::Saved);
    }
    for name in ["ada", "grace"] {
        tenant.create(&applicant(name)).await;
        let challenge = tenant.live_challenge(name).await;
        tenant.set_challenge(&ChallengeSlot::Member(id(name)), &challenge).await;
    }
    let removal = MemberRemoval { id: id("grace"), expected: Version(1) };
    expect_eq!(tenant.remove_member(&removal).await, Outcome::Saved);
    let kept = tenant.member(&id("ada")).await;
    expect_eq!((kept.member.is_some(), kept.challenge.is_some()), (true, true));
}

pub async fn removal_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    tenant.edit(&id("ada"), |_| ()).await;
    let at = |name, version| MemberRemoval { id: id(name), expected: Version(version) };
    for removal in [at("ada", 1), at("ada", 3), at("grace", 1)] {
        expect_eq!(tenant.remove_member(&removal).await, Outcome::Stale);
    }
    expect_eq!(tenant.stored(&id("ada")).await.version, Version(2));
    expect_eq!(tenant.all_members().await.len(), 1);
    expect_eq!(tenant.remove_member(&at("ada", 2)).await, Outcome::Saved);
    expect_eq!(tenant.remove_member(&at("ada", 2)).await, Outcome::Stale);
}

/// Members in several states are read together.
pub async fn member_that_changes_its_state_stays_listed(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    tenant.create(&applicant("ada")).await;
    let run = |racer: usize| {
        let tenant = tenant.clone();
        async move {
            for state in [Approved, Applied].repeat(20) {
                match racer {
                    0 => tenant.edit(&id("ada"), |ada| ada.state = state).await,
                    _ => expect_eq!(tenant.members(&[Applied, Approved]).await.len(), 1),
                }
            }
        }
    };
    race((0..4).map(run)).await;
}

pub async fn quota_of_members_in_a_state_is_enforced(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for name in ["approved", "claimed"] {
        let state = if name == "approved" { Approved } else { Claimed };
        tenant.create(&Member { state, ..applicant(name) }).await;
    }
    expect_eq!(tenant.save_member(&within(0, &applicant("ada"))).await, Full);
    for (name, outcome) in [("ada", Saved), ("grace", Saved), ("hedy", Full)] {
        expect_eq!(tenant.save_member(&within(2, &applicant(name))).await, outcome, "for {name}");
    }
    expect_eq!(tenant.member(&id("hedy")).await.member, None);
    let ada = tenant.edited(&id("ada"), |ada| ada.token = Some(secret("token"))).await;
    let ada = MemberChange { quota: Some(2), ..ada };
    expect_eq!(tenant.save_member(&ada).await, Saved, "itself is not counted");
    let same_key = Member { public_key: Some(key("ada")), ..applicant("hedy") };
    expect_eq!(tenant.save_member(&within(2, &same_key)).await, KeyHeld(id("ada")));
    expect_eq!(tenant.save_member(&within(2, &applicant("ada"))).await, Stale);
    tenant.edit(&id("ada"), |ada| ada.state = Approved).await;
    expect_eq!(tenant.save_member(&within(2, &applicant("hedy"))).await, Saved);
    tenant.create(&applicant("whoever has no quota")).await;
}

pub async fn concurrent_applications_do_not_exceed_the_quota(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    tenant.create(&Member { state: Applied, ..applicant("ada") }).await;
    let apply = |racer: usize| {
        let tenant = tenant.clone();
        async move { tenant.save_member(&within(8, &applicant(&racer.to_string()))).await }
    };
    let outcomes = race((0..32).map(apply)).await;
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &Full)), (7, 25));
    expect_eq!(tenant.members(&[Applied]).await.len(), 8);
}

/// The change that creates this member, with a quota for its state.
fn within(quota: u32, member: &Member) -> MemberChange {
    MemberChange { quota: Some(quota), ..creation(member) }
}
