//! Submissions, and their daily quota.

use std::sync::Arc;

use swarm_core::domain::committee::{
    CommitteeDay, CommitteeSettings, CommitteeStatus, CommitteeTake, Generation,
};
use swarm_core::domain::json::{self, Json};
use swarm_core::domain::{Actor, Quotas, Timestamp};
use swarm_core::proof::{ApiKey, commit_reference};
use swarm_core::rules::committee::{CommitteeRefusal, judge};
use swarm_core::store::{
    CommitteeBasis, CommitteeFiled, CommitteeFiling, CommitteeTakesQuery, Store, Versioned,
};

use crate::assertions::{ensure, expect_eq};
use crate::committee::{
    TestCommittee, answered, attempt, far, filed, first_save, id, next_save, open_day, posted,
};
use crate::conformance::exact_deadline::meet;
use crate::{FIRST, count, day, race, subject};

const DATE: &str = "2026-11-21";

pub async fn take_round_trips(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let odd = "\u{0}\r\n\"\\\u{1f680} {} \u{202e}";
    tenant.put_day(&first_save(&open_day(DATE, odd))).await;
    let body = format!("{}\nSTANCE: bearish | CONFIDENCE: 0.1 \r\n\n", odd.repeat(9));
    let fields: [(&str, Json); 5] = [
        ("stance", "bearish".into()),
        ("confidence", 0.1.into()),
        ("body", Json::Text(body)),
        ("model", odd.into()),
        ("generated_at", "2026-11-21T23:59:59.9999+01:00".into()),
    ];
    let posted = json::write(&Json::from(fields));
    let facts = tenant.basis(&key.hash()).await;
    let service = tenant.service();
    let prefix = service.settings().key_prefix();
    let filing = judge(&facts, prefix, &key, posted.as_bytes(), attempt()).unwrap();
    let before = tenant.now().await;
    let take = filed(tenant.file(&filing).await);
    ensure!(
        (before..=tenant.now().await).contains(&take.received_at),
        "a time by the store\'s clock, during the call",
        take.received_at
    );
    expect_eq!(*take, filing.take(take.received_at));
    expect_eq!(take.generated_at.to_string(), "2026-11-21T22:59:59.999Z");
    let read = tenant.takes_on(day(DATE)).await;
    expect_eq!(read, [Arc::clone(&take)]);
    expect_eq!(commit_reference(&read[0]), commit_reference(&take));

    let plain = tenant.filed(&key, day(DATE), "plain").await;
    expect_eq!((plain.model.clone(), plain.generated_at), (None, plain.received_at));
    expect_eq!(tenant.takes_on(day(DATE)).await, [take, plain]);
}

pub async fn takes_are_in_commit_order(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let keys = [tenant.seat("ada").await, tenant.seat("grace").await];
    let dates = [day("2026-11-20"), day(DATE)];
    for date in ["2026-11-20", DATE] {
        tenant.put_day(&first_save(&open_day(date, "aurora"))).await;
    }
    let mut by_day = [vec![], vec![]];
    for number in 0..24 {
        let (key, of_day) = (&keys[number / 2 % 2], number % 2);
        by_day[of_day].push(tenant.filed(key, dates[of_day], &number.to_string()).await);
    }
    ensure!(
        by_day.iter().all(|takes| takes.is_sorted_by_key(|take| take.received_at)),
        "times in the order of commits",
        by_day
    );
    for (date, takes) in dates.into_iter().zip(&by_day) {
        expect_eq!(tenant.takes_on(date).await, *takes);
    }
    let unknown = day("2026-11-22");
    let asked = [dates[1], unknown, dates[0]];
    let both = [by_day[1].clone(), by_day[0].clone()].concat();
    expect_eq!(tenant.takes(&CommitteeTakesQuery::On(&asked)).await, both);
    expect_eq!(tenant.takes(&CommitteeTakesQuery::On(&[])).await, []);
}

pub async fn filing_does_not_change_member_or_day(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let (members, days) = (tenant.members().await, tenant.day(day(DATE)).await);
    tenant.filed(&key, day(DATE), "mark").await;
    expect_eq!((tenant.members().await, tenant.day(day(DATE)).await), (members, days));
}

pub async fn latest_takes_are_one_per_day_and_subject(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let (ada, grace) = (tenant.seat("ada").await, tenant.seat("grace").await);
    let mut last: Vec<Arc<CommitteeTake>> = Vec::new();
    let days = [("2026-11-18", "a"), ("2026-11-19", "b"), ("2026-11-20", "a"), ("2026-11-20", "b")];
    // Submit on the last day and subject `a` once more.
    for (date, about) in days.into_iter().chain([("2026-11-20", "a")]) {
        let open = open_day(date, about);
        match tenant.day(open.date).await {
            None => tenant.put_day(&first_save(&open)).await,
            Some(judged) => tenant.put_day(&next_save(&judged, open.clone())).await,
        }
        tenant.filed(&ada, open.date, "first").await;
        last.retain(|take| (take.date, take.subject_id.as_str()) != (open.date, about));
        last.insert(0, tenant.filed(&ada, open.date, "second").await);
        tenant.filed(&grace, open.date, "other").await;
    }
    let latest = async |name: &str, before, limit| {
        let (member, before) = (&id(name), day(before));
        tenant.takes(&CommitteeTakesQuery::Latest { member, before, limit }).await
    };
    expect_eq!(latest("ada", "2026-11-21", 9).await, last);
    expect_eq!(latest("ada", "2026-11-21", 3).await, last[..3]);
    expect_eq!(latest("ada", "2026-11-20", 9).await, last[2..]);
    expect_eq!(latest("ada", "2026-11-18", 9).await, []);
    expect_eq!(latest("grace", "2026-11-21", 9).await.len(), 4);
    expect_eq!(latest("nobody", "2026-11-21", 9).await, []);
}

pub async fn repeated_attempt_gets_the_original_result(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let filing = tenant.judged(&key, day(DATE), "mark").await;
    let take = filed(tenant.file(&filing).await);
    expect_eq!(filed(tenant.file(&filing).await), take);
    // The result is the same even after the facts changed.
    tenant
        .service()
        .set_member_status(&id("ada"), CommitteeStatus::Inactive, &Actor::OPERATOR)
        .await
        .unwrap();
    let judged = tenant.day(day(DATE)).await.unwrap();
    tenant.put_day(&next_save(&judged, closing(tenant.now().await))).await;
    expect_eq!(filed(tenant.file(&filing).await), take);
    expect_eq!(tenant.takes_on(day(DATE)).await, [take]);
}

pub async fn same_attempt_id_of_another_member_is_filed(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let keys = [tenant.seat("ada").await, tenant.seat("grace").await];
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let attempt = attempt();
    for key in &keys {
        let filing = tenant.judged_as(key, day(DATE), "mark", attempt).await;
        expect_eq!(filed(tenant.file(&filing).await).member_id, *filing.member().0);
    }
    expect_eq!(tenant.takes_on(day(DATE)).await.len(), 2);
}

pub async fn filing_is_stale_when_the_member_changed(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let filing = tenant.judged(&key, day(DATE), "mark").await;
    tenant.service().rotate_member_key(&id("ada"), &Actor::OPERATOR).await.unwrap();
    expect_eq!(tenant.file(&filing).await, CommitteeFiled::Stale);
    expect_eq!(tenant.takes_on(day(DATE)).await, []);
}

pub async fn filing_is_stale_when_the_day_changed(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let filing = tenant.judged(&key, day(DATE), "mark").await;
    let judged = tenant.day(day(DATE)).await.unwrap();
    // It is both stale and late. Stale is checked first, because it will be judged again.
    tenant.put_day(&next_save(&judged, closing(Timestamp::EPOCH))).await;
    expect_eq!(tenant.file(&filing).await, CommitteeFiled::Stale);
    expect_eq!(tenant.takes_on(day(DATE)).await, []);
}

/// A filing is not late one millisecond too early.
pub async fn filing_commits_exactly_at_its_deadline(tenants: Store) {
    let tenant = &TestCommittee::fresh(tenants).await;
    let key = &tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    meet(tenant.store(), async |deadlines| {
        let facts = tenant.basis(&key.hash()).await;
        let judged = deadlines.into_iter().map(|deadline| {
            let record = Arc::new(closing(deadline));
            let session = facts.session.as_ref().map(|it| Versioned { record, ..it.clone() });
            let facts = CommitteeBasis { session, now: facts.now.min(deadline), ..facts.clone() };
            let settings = CommitteeSettings::default();
            judge(&facts, settings.key_prefix(), key, &posted("mark"), attempt()).unwrap()
        });
        let filings: Vec<_> = judged.collect();
        async move || {
            let file = |filing| {
                let tenant = tenant.clone();
                async move { tenant.file(&filing).await }
            };
            let outcomes = race(filings.into_iter().map(file)).await;
            let landed = |outcome| match outcome {
                CommitteeFiled::Late => None,
                other => Some(filed(other).received_at),
            };
            outcomes.into_iter().map(landed).collect()
        }
    })
    .await;
}

pub async fn filing_is_late_after_its_deadline(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let deadline = tenant.now().await.plus_millis(20);
    tenant.put_day(&first_save(&closing(deadline))).await;
    // Judge it as if the deadline were still ahead.
    let facts = CommitteeBasis { now: deadline, ..tenant.basis(&key.hash()).await };
    let service = tenant.service();
    let prefix = service.settings().key_prefix();
    let filing = judge(&facts, prefix, &key, &posted("mark"), attempt()).unwrap();
    expect_eq!(filing.commit_deadline(), deadline);
    tenant.pass(deadline).await;
    expect_eq!(tenant.file(&filing).await, CommitteeFiled::Late);
    expect_eq!(tenant.takes_on(day(DATE)).await, []);
}

pub async fn concurrent_repeats_of_an_attempt_file_once(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let filing = Arc::new(tenant.judged(&key, day(DATE), "mark").await);
    let send = |_| {
        let (tenant, filing) = (tenant.clone(), Arc::clone(&filing));
        async move { filed(tenant.file(&filing).await) }
    };
    let takes = race((0..16).map(send)).await;
    expect_eq!(count(&takes, &takes[0]), 16);
    expect_eq!(tenant.takes_on(day(DATE)).await, takes[..1]);
}

/// Through the service: 64 submissions of four members, all stored, each with its own receipt.
pub async fn concurrent_submissions_are_all_filed(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.put_subject("aurora").await;
    let mut keys = Vec::new();
    for name in ["a", "b", "c", "d"] {
        keys.push(tenant.seat(name).await);
    }
    let date = tenant.generated(far()).await;
    let submit = |racer: usize| {
        let (service, key) = (tenant.service(), keys[racer % 4].clone());
        let posted = posted(&racer.to_string());
        async move { answered(service.submit(&key, &posted).await).unwrap() }
    };
    let receipts = race((0..64).map(submit)).await;
    let takes = tenant.takes_on(date).await;
    expect_eq!(takes.len(), 64);
    ensure!(
        takes.is_sorted_by_key(|take| take.received_at),
        "times in the order of commits",
        takes
    );
    let mut told: Vec<_> = receipts.iter().map(|receipt| receipt.commit.clone()).collect();
    let mut kept: Vec<_> = takes.iter().map(|take| commit_reference(take)).collect();
    told.sort_unstable();
    kept.sort_unstable();
    expect_eq!(told, kept);
    ensure!(
        takes.iter().all(|take| take.subject_id == subject("aurora")),
        "takes about the subject of their day",
        takes
    );
}

pub async fn submissions_around_the_deadline_are_not_late(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.put_subject("aurora").await;
    let key = tenant.seat("ada").await;
    let deadline = tenant.now().await.plus_millis(60);
    let date = tenant.generated(deadline).await;
    let mut without_end = Quotas::default();
    without_end.committee_submissions_per_day = u32::MAX;
    let submit = |racer: usize| {
        let (service, key) = (tenant.service().with_quotas(without_end), key.clone());
        async move {
            let mut landed = 0;
            loop {
                let posted = posted(&format!("{racer} {landed}"));
                match answered(service.submit(&key, &posted).await) {
                    Ok(_) => landed += 1,
                    Err(refusal) => {
                        expect_eq!(refusal, CommitteeRefusal::WindowClosed);
                        return landed;
                    }
                }
            }
        }
    };
    let landed: usize = race((0..8).map(submit)).await.into_iter().sum();
    let takes = tenant.takes_on(date).await;
    expect_eq!(takes.len(), landed);
    ensure!(takes.iter().all(|take| take.received_at <= deadline), "takes up to {deadline}", takes);
    let session = tenant.service().session(date).await.unwrap();
    expect_eq!(session.takes.len(), landed.min(1));
}

pub async fn submissions_during_key_rotation_are_filed_or_refused(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.put_subject("aurora").await;
    let old = tenant.seat("ada").await;
    let date = tenant.generated(far()).await;
    let run = |racer: usize| {
        let (service, old) = (tenant.service(), old.clone());
        async move {
            if racer == 0 {
                service.rotate_member_key(&id("ada"), &Actor::OPERATOR).await.unwrap();
                // The old key stops working with the commit.
                let late = answered(service.submit(&old, &posted("late")).await);
                expect_eq!(late, Err(CommitteeRefusal::InvalidKey));
                return 0;
            }
            match answered(service.submit(&old, &posted(&racer.to_string())).await) {
                Ok(_) => 1,
                Err(refusal) => {
                    expect_eq!(refusal, CommitteeRefusal::InvalidKey);
                    0
                }
            }
        }
    };
    let landed: usize = race((0..32).map(run)).await.into_iter().sum();
    expect_eq!(tenant.takes_on(date).await.len(), landed);
    expect_eq!(tenant.members().await[0].version, FIRST.next());
}

/// The day with this deadline.
fn closing(deadline: Timestamp) -> CommitteeDay {
    let open = open_day(DATE, "aurora");
    let generation = open.generation.map(|made| Generation { deadline, ..made });
    CommitteeDay { generation, ..open }
}

pub async fn submission_quota_is_enforced(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let [ada, grace] = [tenant.seat("ada").await, tenant.seat("grace").await];
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    tenant.put_day(&first_save(&open_day("2026-11-22", "aurora"))).await;
    expect_eq!(tenant.file(&within(&tenant, &ada, DATE, 0).await).await, CommitteeFiled::Full);
    tenant.filed(&grace, day(DATE), "another member").await;
    tenant.filed(&ada, day("2026-11-22"), "another day").await;
    let first = within(&tenant, &ada, DATE, 2).await;
    let take = filed(tenant.file(&first).await);
    filed(tenant.file(&within(&tenant, &ada, DATE, 2).await).await);
    expect_eq!(tenant.file(&within(&tenant, &ada, DATE, 2).await).await, CommitteeFiled::Full);
    expect_eq!(filed(tenant.file(&first).await), take, "an attempt that is sent again");
    expect_eq!(tenant.takes_on(day(DATE)).await.len(), 3);

    // Submissions also count after a change of the subject.
    let judged = tenant.day(day(DATE)).await.unwrap();
    tenant.put_day(&next_save(&judged, open_day(DATE, "borealis"))).await;
    expect_eq!(tenant.file(&within(&tenant, &ada, DATE, 2).await).await, CommitteeFiled::Full);
    filed(tenant.file(&within(&tenant, &ada, DATE, 3).await).await);
}

pub async fn concurrent_submissions_do_not_exceed_the_quota(tenants: Store) {
    let tenant = &TestCommittee::fresh(tenants).await;
    let ada = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let mut filings = Vec::new();
    for _ in 0..32 {
        filings.push(within(tenant, &ada, DATE, 7).await);
    }
    let file = |filing: CommitteeFiling| {
        let tenant = tenant.clone();
        async move { tenant.file(&filing).await }
    };
    let outcomes = race(filings.into_iter().map(file)).await;
    expect_eq!(count(&outcomes, &CommitteeFiled::Full), 25);
    expect_eq!(tenant.takes_on(day(DATE)).await.len(), 7);
}

/// A submission for this day with this quota.
async fn within(tenant: &TestCommittee, key: &ApiKey, date: &str, quota: u32) -> CommitteeFiling {
    tenant.judged(key, day(date), "mark").await.with_quota(quota)
}
