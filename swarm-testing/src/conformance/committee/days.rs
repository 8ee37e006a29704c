//! Days, their briefs and sessions.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::committee::{
    TestCommittee, brief, creation, far, first_save, id, key, member, next_save, open_day,
};
use crate::{FIRST, count, day, moment, race, subject};
use swarm_core::domain::committee::{CommitteeBrief, CommitteeDay, Generation, Synthesis};
use swarm_core::domain::{Day, Version};
use swarm_core::rules::Versioned;
use swarm_core::store::{
    CommitteeDayChange, CommitteeMemberChange, CommitteeSessionQuery, Saved, Store,
};

pub async fn unknown_day_is_none(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let date = day("2026-11-21");
    expect_eq!(tenant.day(date).await, None);
    expect_eq!(tenant.briefs(date, None).await, []);
    expect_eq!(tenant.briefs(date, Some(&id("ada"))).await, []);
    expect_eq!(tenant.takes_on(date).await, []);
    expect_eq!(found(&tenant, CommitteeSessionQuery::default()).await, [""; 0]);
}

pub async fn day_round_trips(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let odd = "\u{0}\r\n\"\\\u{1f680} {} \u{202e}";
    let full = CommitteeDay {
        date: day("2028-02-29"),
        subject: Some(subject(odd)),
        generation: Some(Generation {
            withdrawn: 7,
            subject_id: subject(&format!("{odd}{odd}")),
            deadline: moment("2028-03-01T00:00:00.001Z"),
            generated_at: moment("2028-02-29T22:45:00.999Z"),
            briefs: 12_345,
        }),
        synthesis: Some(Synthesis::parse(odd.repeat(7)).unwrap()),
    };
    let mut version = FIRST;
    tenant.put_day(&first_save(&full)).await;
    for next in [
        CommitteeDay { generation: None, ..full.clone() },
        CommitteeDay { subject: None, ..full.clone() },
        CommitteeDay { synthesis: None, ..full.clone() },
        CommitteeDay::blank(full.date),
        full,
    ] {
        let stored = tenant.day(next.date).await.unwrap();
        expect_eq!(stored.version, version);
        tenant.put_day(&next_save(&stored, next.clone())).await;
        version = version.next();
        let written = Versioned { version, record: Arc::new(next) };
        expect_eq!(tenant.day(written.record.date).await, Some(written));
    }
}

pub async fn day_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let date = day("2026-11-21");
    let early = CommitteeDayChange {
        expected: Some(FIRST),
        briefs: Some(vec![brief("ada", "lost")]),
        ..first_save(&open_day("2026-11-21", "aurora"))
    };
    expect_eq!(tenant.save_day(&early).await, Saved::Stale);
    expect_eq!((tenant.day(date).await, tenant.briefs(date, None).await), (None, vec![]));
    tenant.put_day(&first_save(&CommitteeDay::blank(date))).await;
    for expected in [None, Some(FIRST.next())] {
        let change = CommitteeDayChange { expected, ..early.clone() };
        expect_eq!(tenant.save_day(&change).await, Saved::Stale);
    }
    expect_eq!(*tenant.day(date).await.unwrap().record, CommitteeDay::blank(date));
    expect_eq!(tenant.briefs(date, None).await, []);
}

pub async fn sessions_are_latest_first(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let dates = ["2027-01-01", "2026-12-31", "2028-02-29", "2026-02-28", "2026-10-02"];
    for date in dates {
        tenant.put_day(&first_save(&open_day(date, "aurora"))).await;
    }
    for blank in ["2029-01-01", "2026-11-21"] {
        tenant.put_day(&first_save(&CommitteeDay::blank(day(blank)))).await;
    }
    let mut ordered = dates;
    ordered.sort_unstable_by(|a, b| b.cmp(a));
    let query = |before: Option<&str>, limit| CommitteeSessionQuery {
        subject: None,
        before: before.map(day),
        limit,
    };
    expect_eq!(found(&tenant, query(None, 9)).await, ordered);
    expect_eq!(found(&tenant, query(None, 2)).await, ordered[..2]);
    expect_eq!(found(&tenant, query(Some("2026-12-31"), 9)).await, ordered[3..]);
    expect_eq!(found(&tenant, query(Some("2027-01-01"), 1)).await, ordered[2..3]);
    expect_eq!(found(&tenant, query(Some("2026-02-28"), 9)).await, [""; 0]);
}

pub async fn sessions_are_found_by_subject(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    for (date, about) in [("2026-11-18", "a"), ("2026-11-19", "b"), ("2026-11-20", "a")] {
        tenant.put_day(&first_save(&open_day(date, about))).await;
    }
    let about = |it: &str| CommitteeSessionQuery {
        subject: Some(subject(it)),
        limit: 9,
        ..CommitteeSessionQuery::default()
    };
    expect_eq!(found(&tenant, about("a")).await, ["2026-11-20", "2026-11-18"]);
    expect_eq!(found(&tenant, about("c")).await, [""; 0]);
    let before = CommitteeSessionQuery { before: Some(day("2026-11-20")), ..about("a") };
    expect_eq!(found(&tenant, before).await, ["2026-11-18"]);
    // A day that is generated again is found by its new subject.
    let judged = tenant.day(day("2026-11-18")).await.unwrap();
    tenant.put_day(&next_save(&judged, open_day("2026-11-18", "b"))).await;
    expect_eq!(found(&tenant, about("a")).await, ["2026-11-20"]);
    expect_eq!(found(&tenant, about("b")).await, ["2026-11-19", "2026-11-18"]);
}

pub async fn basis_has_the_latest_session(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.put_day(&first_save(&open_day("2026-11-20", "a"))).await;
    tenant.put_day(&first_save(&open_day("2026-11-19", "b"))).await;
    tenant.put_day(&first_save(&CommitteeDay::blank(day("2026-11-21")))).await;
    let before = tenant.now().await;
    let facts = tenant.basis(&key("nobody").hash()).await;
    ensure!(
        (before..=tenant.now().await).contains(&facts.now),
        "a time by the store\'s clock, during the call",
        facts.now
    );
    expect_eq!(facts.session, tenant.day(day("2026-11-20")).await);
}

/// It has no briefs, and is not listed any more.
pub async fn withdrawn_day_is_not_a_session(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let first = first_save(&open_day("2026-11-21", "a"));
    let made = CommitteeDayChange { briefs: Some(vec![brief("ada", "1")]), ..first };
    tenant.put_day(&made).await;
    let judged = tenant.day(day("2026-11-21")).await.unwrap();
    let blank = next_save(&judged, CommitteeDay::blank(day("2026-11-21")));
    tenant.put_day(&CommitteeDayChange { briefs: Some(vec![]), ..blank }).await;
    expect_eq!(tenant.basis(&key("nobody").hash()).await.session, None);
    let all = CommitteeSessionQuery { limit: 9, ..CommitteeSessionQuery::default() };
    let about = CommitteeSessionQuery { subject: Some(subject("a")), ..all.clone() };
    expect_eq!(found(&tenant, all).await, [""; 0]);
    expect_eq!(found(&tenant, about).await, [""; 0]);
    expect_eq!(tenant.briefs(day("2026-11-21"), None).await, []);
}

/// A writer repeatedly saves the day, then the member.
pub async fn basis_is_read_in_one_snapshot(tenants: Store) {
    const ROUNDS: u64 = 60;
    let tenant = TestCommittee::fresh(tenants).await;
    expect_eq!(tenant.save_member(&creation(&member("ada"))).await, Saved::Saved);
    tenant.put_day(&first_save(&open_day("2026-11-21", "aurora"))).await;
    let run = |racer: u64| {
        let tenant = tenant.clone();
        async move {
            for version in (1..=ROUNDS).map(Version) {
                if racer == 0 {
                    let day = first_save(&open_day("2026-11-21", "aurora"));
                    tenant.put_day(&CommitteeDayChange { expected: Some(version), ..day }).await;
                    let (member, expected) = (member("ada"), Some(version));
                    let change = CommitteeMemberChange { member, expected, operator_act: None };
                    expect_eq!(tenant.save_member(&change).await, Saved::Saved);
                    continue;
                }
                let facts = tenant.basis(&key("ada").hash()).await;
                let day = facts.session.map_or(0, |day| day.version.0);
                let member = facts.member.map_or(0, |member| member.version.0);
                let together = day == member || day == member + 1;
                ensure!(together, "a day saved before its member", (day, member));
            }
        }
    };
    race((0..5).map(run)).await;
}

pub async fn saved_briefs_replace_all_briefs_of_the_day(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let date = day("2026-11-21");
    let mut version: Option<Version> = None;
    for names in [&["b", "a"][..], &["b", "c"], &[], &["a"]] {
        let briefs = names.iter().map(|name| brief(name, &format!("{version:?}")));
        let briefs: Vec<CommitteeBrief> = briefs.collect();
        tenant
            .put_day(&CommitteeDayChange {
                expected: version,
                briefs: Some(briefs.clone()),
                ..first_save(&open_day("2026-11-21", "aurora"))
            })
            .await;
        version = Some(version.map_or(FIRST, Version::next));
        let mut sorted = briefs;
        sorted.sort_by(|a, b| a.member_id.cmp(&b.member_id));
        let on_file: Vec<_> = sorted.iter().cloned().map(Arc::new).collect();
        expect_eq!(tenant.briefs(date, None).await, on_file);
        for name in ["a", "b", "c"] {
            let own = on_file.iter().find(|brief| brief.member_id == id(name)).cloned();
            let own: Vec<_> = own.into_iter().collect();
            expect_eq!(tenant.briefs(date, Some(&id(name))).await, own);
        }
    }
}

pub async fn day_saved_without_briefs_keeps_them(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let date = day("2026-11-21");
    let open = open_day("2026-11-21", "aurora");
    let briefs = Some(vec![brief("ada", "mark")]);
    tenant.put_day(&CommitteeDayChange { briefs, ..first_save(&open) }).await;
    let judged = tenant.day(date).await.unwrap();
    let synthesis = Some(Synthesis::parse("text").unwrap());
    tenant.put_day(&next_save(&judged, CommitteeDay { synthesis, ..open })).await;
    expect_eq!(tenant.briefs(date, None).await, [Arc::new(brief("ada", "mark"))]);
}

/// This happens after a clock was set back: briefs of an earlier day are generated later.
pub async fn saved_briefs_keep_those_of_later_days(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    for date in ["2026-11-21", "2026-09-30"] {
        let briefs = Some(vec![brief("ada", date), brief("grace", date)]);
        let open = open_day(date, "aurora");
        tenant.put_day(&CommitteeDayChange { briefs, ..first_save(&open) }).await;
    }
    for date in ["2026-11-21", "2026-09-30"] {
        let on_file = [brief("ada", date), brief("grace", date)].map(Arc::new);
        expect_eq!(tenant.briefs(day(date), None).await, on_file);
        expect_eq!(tenant.briefs(day(date), Some(&id("grace"))).await, on_file[1..]);
    }
}

pub async fn brief_text_round_trips(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let mark = "\u{0}\r\n\"\\ {} \u{1f680}\u{feff}\u{ffff}".repeat(999);
    let odd = CommitteeBrief {
        generated_at: moment("2026-11-21T22:45:00.123Z"),
        ..brief("a_d-a", &mark)
    };
    let briefs = Some(vec![odd.clone()]);
    let open = open_day("2026-11-21", "aurora");
    tenant.put_day(&CommitteeDayChange { briefs, ..first_save(&open) }).await;
    expect_eq!(tenant.briefs(open.date, Some(&odd.member_id)).await, [Arc::new(odd)]);
}

pub async fn concurrent_day_saves_commit_once(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    for expected in [None, Some(FIRST)] {
        let save = |racer: u32| {
            let briefs = Some(vec![brief("ada", &racer.to_string())]);
            let open = open_day("2026-11-21", &racer.to_string());
            let change = CommitteeDayChange { expected, briefs, ..first_save(&open) };
            let tenant = tenant.clone();
            async move { tenant.save_day(&change).await }
        };
        let outcomes = race((0..32).map(save)).await;
        expect_eq!((count(&outcomes, &Saved::Saved), count(&outcomes, &Saved::Stale)), (1, 31));
        let winner = outcomes.iter().position(|it| *it == Saved::Saved).unwrap().to_string();
        let date = day("2026-11-21");
        let on_file = tenant.day(date).await.unwrap();
        expect_eq!(*on_file.record, open_day("2026-11-21", &winner));
        expect_eq!(tenant.briefs(date, None).await, [Arc::new(brief("ada", &winner))]);
    }
}

/// With one writer and many readers, each read returns one complete generation.
pub async fn readers_see_briefs_of_one_generation(tenants: Store) {
    const ROUNDS: usize = 40;
    let tenant = TestCommittee::fresh(tenants).await;
    let date = day("2026-11-21");
    let run = |racer: usize| {
        let tenant = tenant.clone();
        async move {
            let mut expected = None;
            for round in 0..ROUNDS {
                if racer == 0 {
                    let names = ["a", "b", "c", "d"];
                    let briefs = names.map(|name| brief(name, &round.to_string()));
                    let open = open_day("2026-11-21", "aurora");
                    let briefs = Some(briefs.to_vec());
                    tenant
                        .put_day(&CommitteeDayChange { expected, briefs, ..first_save(&open) })
                        .await;
                    expected = Some(expected.map_or(FIRST, Version::next));
                    continue;
                }
                let briefs = tenant.briefs(date, None).await;
                ensure!(
                    matches!(briefs.len(), 0 | 4),
                    "all four briefs of a generation, or none",
                    briefs
                );
                ensure!(
                    briefs.windows(2).all(|pair| pair[0].head == pair[1].head),
                    "briefs of one generation",
                    briefs
                );
            }
        }
    };
    race((0..8).map(run)).await;
}

pub async fn concurrent_generations_are_serialized(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    tenant.put_subject("aurora").await;
    tenant.seat("ada").await;
    tenant.seat("grace").await;
    let generate = |_| {
        let tenant = tenant.clone();
        async move { tenant.generated(far()).await }
    };
    let dates: Vec<Day> = race((0..16).map(generate)).await;
    let mut writes = 0;
    let days: std::collections::BTreeSet<_> = dates.into_iter().collect();
    for date in &days {
        writes += tenant.day(*date).await.unwrap().version.0;
    }
    expect_eq!(writes, 16);
    expect_eq!(tenant.service().briefs().await.unwrap().len(), 2);
}

/// The days that match, as text, in the order of the result.
async fn found(tenant: &TestCommittee, query: CommitteeSessionQuery) -> Vec<String> {
    let days = tenant.sessions(&query).await;
    days.iter().map(|day| day.record.date.to_string()).collect()
}
