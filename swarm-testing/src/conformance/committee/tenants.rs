//! Isolation of tenants: two committees have members, days and takes with the same names, so a method that ignores its
//! tenant fails in one of them.

use std::sync::Arc;

use swarm_core::domain::committee::CommitteeMember;
use swarm_core::domain::{AttemptId, Lens, TenantId, Version};
use swarm_core::rules::Versioned;
use swarm_core::store::{
    CommitteeDayChange, CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Saved,
    Store,
};

use crate::assertions::expect_eq;
use crate::committee::{
    TestCommittee, brief, creation, filed, first_save, id, key, member, next_save, open_day,
};
use crate::{FIRST, day};

const DATE: &str = "2026-11-21";

pub async fn committee_members_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        expect_eq!(tenant.save_member(&creation(&marked(mark))).await, Saved::Saved);
    }
    for (tenant, mark) in both(&pair) {
        let own = Versioned { version: Version(1), record: Arc::new(marked(mark)) };
        let found = tenant.basis(&key("ada").hash()).await.member;
        expect_eq!(found.as_ref(), Some(&own), "in the {mark} committee");
        expect_eq!(tenant.members().await, [own], "in the {mark} committee");
    }
}

pub async fn committee_member_saves_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let [one, other] = &pair;
    for (tenant, _) in both(&pair) {
        expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
    }
    let rotated = CommitteeMember { key: key("new").hash(), ..member("ada") };
    let at = |version| CommitteeMemberChange {
        member: rotated.clone(),
        expected: Some(Version(version)),
        operator_act: None,
    };
    for version in 1..=3 {
        expect_eq!(one.save_member(&at(version)).await, Saved::Saved);
    }
    expect_eq!(*other.members().await[0].record, member("ada"));
    let found = other.basis(&key("ada").hash()).await.member;
    expect_eq!(found.map(|it| it.version), Some(Version(1)), "by the key that was not replaced");
    expect_eq!(other.save_member(&at(4)).await, Saved::Stale);
    expect_eq!(one.save_member(&at(1)).await, Saved::Stale);
    expect_eq!(other.save_member(&at(1)).await, Saved::Saved);
    expect_eq!(one.members().await[0].version, Version(4));
}

pub async fn days_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        let briefs = Some(vec![brief("ada", mark)]);
        tenant.put_day(&CommitteeDayChange { briefs, ..first_save(&open_day(DATE, mark)) }).await;
    }
    pair[1].put_day(&first_save(&open_day("2026-11-22", "later"))).await;
    for ((tenant, mark), latest) in both(&pair).into_iter().zip([DATE, "2026-11-22"]) {
        let own = Versioned { version: Version(1), record: Arc::new(open_day(DATE, mark)) };
        expect_eq!(tenant.day(day(DATE)).await, Some(own.clone()), "in the {mark} committee");
        let before = Some(day("2026-11-22"));
        let query = CommitteeSessionQuery { before, limit: 9, subject: None };
        expect_eq!(tenant.sessions(&query).await, [own], "in the {mark} committee");
        let facts = tenant.basis(&key("ada").hash()).await.session;
        expect_eq!(facts.map(|it| it.record.date), Some(day(latest)), "in the {mark} committee");
        let briefs = [Arc::new(brief("ada", mark))];
        expect_eq!(tenant.briefs(day(DATE), None).await, briefs, "in the {mark} committee");
        let its_own = tenant.briefs(day(DATE), Some(&id("ada"))).await;
        expect_eq!(its_own, briefs, "in the {mark} committee");
    }
}

pub async fn day_saves_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let [one, other] = &pair;
    let briefs = |mark| Some(vec![brief("ada", mark)]);
    for (tenant, mark) in both(&pair) {
        let first = first_save(&open_day(DATE, "aurora"));
        tenant.put_day(&CommitteeDayChange { briefs: briefs(mark), ..first }).await;
    }
    let judged = one.day(day(DATE)).await.unwrap();
    let change = next_save(&judged, open_day(DATE, "corona"));
    one.put_day(&CommitteeDayChange { briefs: briefs("new"), ..change.clone() }).await;
    expect_eq!(*other.day(day(DATE)).await.unwrap().record, open_day(DATE, "aurora"));
    expect_eq!(other.briefs(day(DATE), None).await, [Arc::new(brief("ada", "other"))]);
    let at = |version| CommitteeDayChange { expected: Some(Version(version)), ..change.clone() };
    expect_eq!(other.save_day(&at(2)).await, Saved::Stale);
    expect_eq!(one.save_day(&at(1)).await, Saved::Stale);
    expect_eq!(other.save_day(&at(1)).await, Saved::Saved);
    expect_eq!(one.day(day(DATE)).await.map(|it| it.version), Some(Version(2)));
}

/// Attempts, versions and takes of the other committee have no effect.
pub async fn committee_takes_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let mut own = Vec::new();
    for (tenant, mark) in both(&pair) {
        expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
        tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
        let attempt = AttemptId([7; 16]);
        let filing = tenant.judged_as(&key("ada"), day(DATE), mark, attempt).await;
        let take = filed(tenant.file(&filing).await);
        expect_eq!(*take, filing.take(take.received_at), "the take of the {mark} committee");
        own.push(take);
        let saved = CommitteeMemberChange {
            member: member("ada"),
            expected: Some(Version(1)),
            operator_act: None,
        };
        expect_eq!(tenant.save_member(&saved).await, Saved::Saved);
    }
    for ((tenant, mark), take) in both(&pair).into_iter().zip(own) {
        expect_eq!(
            tenant.takes_on(day(DATE)).await,
            [Arc::clone(&take)],
            "in the {mark} committee"
        );
        let (member, before) = (&id("ada"), day("2026-11-22"));
        let latest = CommitteeTakesQuery::Latest { member, before, limit: 9 };
        expect_eq!(tenant.takes(&latest).await, [take], "in the {mark} committee");
    }
}

async fn two_tenants(tenants: Store) -> [TestCommittee; 2] {
    let one = TestCommittee::fresh(tenants.clone()).await;
    let other = TenantId::parse(format!("{}-x", one.id)).unwrap();
    let other = TestCommittee::open(tenants, other);
    [one, other]
}

/// Both committees, each with a distinct text to put into its records.
fn both(pair: &[TestCommittee; 2]) -> [(&TestCommittee, &'static str); 2] {
    [(&pair[0], "one"), (&pair[1], "other")]
}

fn marked(mark: &str) -> CommitteeMember {
    CommitteeMember { lens: Lens::parse(mark).unwrap(), ..member("ada") }
}

/// The names of the two tenants have a common prefix, and their records have the same names.
pub async fn committees_of_tenants_share_nothing(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants.clone()).await;
    let other = TenantId::parse(format!("{}-x", tenant.id)).unwrap();
    let other = TestCommittee::open(tenants, other);
    let date = day("2026-11-21");
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day("2026-11-21", "aurora"))).await;
    let take = tenant.filed(&key, date, "mark").await;

    expect_eq!(other.members().await, []);
    let facts = other.basis(&key.hash()).await;
    expect_eq!((facts.member, facts.session), (None, None));
    expect_eq!((other.day(date).await, other.takes_on(date).await), (None, vec![]));
    let all = CommitteeSessionQuery { limit: 9, ..CommitteeSessionQuery::default() };
    expect_eq!(other.sessions(&all).await, []);
    let latest = CommitteeTakesQuery::Latest {
        member: &take.member_id,
        before: day("9999-12-31"),
        limit: 9,
    };
    expect_eq!(other.takes(&latest).await, []);

    let own = other.seat("ada").await;
    other.put_day(&first_save(&open_day("2026-11-21", "borealis"))).await;
    other.filed(&own, date, "mark").await;
    expect_eq!(other.day(date).await.unwrap().version, FIRST);
    expect_eq!(tenant.takes_on(date).await, [take]);
    expect_eq!(tenant.basis(&own.hash()).await.member, None);
}

pub async fn committee_opened_twice_is_the_same(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants.clone()).await;
    let again = TestCommittee::open(tenants, tenant.id.clone());
    tenant.put_day(&first_save(&open_day("2026-11-21", "aurora"))).await;
    let key = tenant.seat("ada").await;
    let take = again.filed(&key, day("2026-11-21"), "mark").await;
    expect_eq!(tenant.takes_on(take.date).await, [take]);
}
