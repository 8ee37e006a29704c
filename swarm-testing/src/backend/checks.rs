//! Checks: conditions of a transaction, each of them met and not met.

use std::sync::Arc;

use swarm_core::domain::{Timestamp, Version};
use swarm_core::store::backend::*;

use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};

/// How often a commit at its deadline is tried.
const MAX_TRIES: i64 = 10_000;

pub async fn version_is_checked(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![parcel(1, &[]), shelf("a", 1, int(1))]).await;
    tenant.write(vec![parcel(1, &[])]).await;
    let version = |table: &'static Table, key: &[Term], expected: Option<u64>| Check::Version {
        table,
        key: key.to_vec(),
        expected: expected.map(Version),
    };
    for (expected, is_met) in [(Some(2), true), (Some(1), false), (Some(3), false), (None, false)] {
        let check = version(&PARCELS, &[int(1)], expected);
        expect_eq!(tenant.is_met(check).await, is_met, "version {expected:?}");
    }
    for (expected, is_met) in [(None, true), (Some(0), false), (Some(1), false)] {
        let check = version(&PARCELS, &[int(2)], expected);
        expect_eq!(tenant.is_met(check).await, is_met, "version {expected:?} of no record");
    }
    expect_eq!(tenant.is_met(version(&SHELVES, &["a".into(), int(1)], Some(1))).await, true);
    expect_eq!(tenant.is_met(version(&SHELVES, &["a".into(), int(2)], None)).await, true);
}

/// A commit may be made in the millisecond of its deadline, and in none after it.
pub async fn commit_is_made_up_to_its_deadline(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for lead in 0..MAX_TRIES {
        let deadline = tenant.clock().await.plus_millis(lead % 16);
        let checks = vec![Check::NotAfter(deadline)];
        match tenant.commit(Transaction { checks, ..transaction() }).await.decision {
            Decision::Committed(assigned) if assigned.at == deadline => {
                let passed = Check::NotAfter(deadline.plus_millis(-1));
                expect_eq!(tenant.is_met(passed).await, false, "a deadline before {deadline}");
                return;
            }
            Decision::Committed(assigned) => {
                ensure!(assigned.at < deadline, "a commit up to {deadline}", assigned.at);
            }
            _ => {
                let clock = tenant.clock().await;
                ensure!(clock > deadline, "a commit is late after {deadline}", clock);
            }
        }
    }
    let at_its_deadline = 0;
    expect_eq!(at_its_deadline, 1, "commits exactly at their deadline");
}

pub async fn first_record_of_a_range_is_checked(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let by_weight = indexed(BY_DEPOT, &["a".into()]);
    for (range, expected) in [
        (by_weight.clone(), Some(2)),
        (descending(by_weight.clone()), Some(1)),
        (Range { after: Some(int(10)), ..by_weight }, Some(4)),
        (descending(all(&PARCELS)), Some(5)),
        (indexed(BY_DEPOT, &["c".into()]), None),
    ] {
        for id in 1..=5 {
            let check =
                Check::First { range: range.clone(), column: ID, value: int(id), version: None };
            expect_eq!(tenant.is_met(check).await, Some(id) == expected, "{id} in {range:?}");
        }
    }
    let value = "code 2".into();
    let check = Check::First { range: indexed(BY_DEPOT, &[]), column: CODE, value, version: None };
    expect_eq!(tenant.is_met(check).await, true, "a column that is not in the index");
    for (version, is_met) in [(1, true), (2, false)] {
        let (range, version) = (all(&PARCELS), Some(Version(version)));
        let check = Check::First { range, column: ID, value: int(1), version };
        expect_eq!(tenant.is_met(check).await, is_met, "{version:?}");
    }
}

/// Not only the last record counts. A null is not too much.
pub async fn highest_value_of_a_range_is_checked(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    for (range, highest) in [
        (all(&PARCELS), 30),
        (indexed(BY_DEPOT, &["a".into()]), 30),
        (indexed(BY_DEPOT, &["b".into()]), 10),
        (Range { before: Some(int(30)), ..indexed(BY_DEPOT, &["a".into()]) }, 20),
    ] {
        for most in [highest - 1, highest, highest + 1] {
            let check = Check::AtMost { range: range.clone(), column: WEIGHT, most: int(most) };
            expect_eq!(tenant.is_met(check).await, most >= highest, "{most} in {range:?}");
        }
    }
    let nothing = indexed(BY_DEPOT, &["c".into()]);
    let check = Check::AtMost { range: nothing, column: WEIGHT, most: int(i64::MIN) };
    expect_eq!(tenant.is_met(check).await, true, "an empty range");
}

/// The outcome shows a record that is there.
pub async fn absence_of_records_is_checked(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let [first, fourth] = [1, 4].map(with_id).map(|range| tenant.records(range));
    let (first, fourth) = (first.await.remove(0), fourth.await.remove(0));
    let coded = |code: &str, except: &[Term]| Check::None {
        range: indexed(BY_CODE, &[code.into()]),
        except: except.to_vec(),
    };
    for (check, shown) in [
        (coded("code 9", &[]), None),
        (coded("code 9", &[int(1)]), None),
        (coded("code 1", &[]), Some(&first)),
        (coded("code 1", &[int(2)]), Some(&first)),
        (coded("code 1", &[int(1)]), None),
        (coded("code 4", &[int(1)]), Some(&fourth)),
    ] {
        let unmet = tenant.unmet(vec![check.clone()]).await;
        let columns = unmet.map(|(_, found)| found.map(|it| (it.version, it.columns)));
        let shown = shown.map(|it| Some((it.version, it.columns.clone())));
        expect_eq!(columns, shown, "{check:?}");
    }
    let shelves = |except: &[Term]| Check::None {
        range: Range { prefix: vec!["a".into()], ..all(&SHELVES) },
        except: except.to_vec(),
    };
    expect_eq!(tenant.is_met(shelves(&["a".into(), int(1)])).await, true);
    tenant.write(vec![shelf("a", 2, int(12))]).await;
    let found = tenant.unmet(vec![shelves(&["a".into(), int(1)])]).await;
    let load = found.and_then(|(_, found)| found?.columns[2].integer());
    expect_eq!(load, Some(12), "another record of the range");
}

pub async fn number_of_records_is_checked(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let counted = |except: &[Term], least, most| Check::Count {
        range: indexed(BY_DEPOT, &["a".into()]),
        except: except.to_vec(),
        least,
        most,
    };
    for (except, number) in [(&[][..], 3), (&[int(2)], 2), (&[int(3)], 3), (&[int(9)], 3)] {
        for (least, most) in [
            (0, number),
            (number, number),
            (number, 9),
            (0, u64::MAX),
            (0, number - 1),
            (number + 1, 9),
            (1, 0),
        ] {
            let is_met = (least..=most).contains(&number);
            let check = counted(except, least, most);
            expect_eq!(tenant.is_met(check.clone()).await, is_met, "{check:?}");
        }
    }
    let range = indexed(BY_DEPOT, &["c".into()]);
    let none = Check::Count { range, except: Vec::new(), least: 0, most: 0 };
    expect_eq!(tenant.is_met(none).await, true, "none of none");
}

pub async fn sum_is_checked_before_the_changes(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    expect_eq!(tenant.is_met(Check::Sum("weight", 0)).await, true);
    let add = |most, amount| Transaction {
        checks: vec![Check::Sum("weight", most)],
        writes: vec![Write::Add("weight", amount)],
        ..transaction()
    };
    tenant.committed(add(0, 5)).await;
    tenant.committed(add(5, 2)).await;
    expect_eq!(tenant.is_met(Check::Sum("weight", 6)).await, false);
    expect_eq!(tenant.is_met(Check::Sum("weight", 7)).await, true);
    expect_eq!(tenant.is_met(Check::Sum("weight", 8)).await, true);
    expect_eq!(tenant.is_met(Check::Sum("others", 0)).await, true);
}

pub async fn first_unmet_check_is_reported(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let check = |is_met: bool| {
        let (range, least) = (all(&PARCELS), u64::from(!is_met));
        Check::Count { range, except: Vec::new(), least, most: 9 }
    };
    let late = || Check::NotAfter(Timestamp::EPOCH);
    for (checks, first) in [
        (vec![check(true), check(true)], None),
        (vec![check(true), check(false), check(true), late()], Some(1)),
        (vec![check(true), late(), check(false)], Some(1)),
        (vec![check(true), check(true), check(true), check(false)], Some(3)),
    ] {
        expect_eq!(tenant.unmet(checks).await.map(|(check, _)| check), first);
    }
}

/// No record, no sum, no entry; and no number of a sequence is used.
pub async fn nothing_is_written_unless_all_checks_are_met(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![parcel(1, &[])]).await;
    let refused = Transaction {
        checks: vec![
            Check::Sum("weight", 0),
            Check::None { range: with_id(1), except: Vec::new() },
        ],
        sequences: vec!["parcels"],
        writes: vec![
            parcel(2, &[]),
            Write::Set { range: with_id(1), column: CODE, value: "code".into() },
            Write::Remove(with_id(1)),
            Write::Add("weight", 5),
        ],
        entries: vec![entry("refused")],
        ..transaction()
    };
    let outcome = tenant.commit(refused).await;
    ensure!(matches!(outcome.decision, Decision::Failed { check: 1, .. }), "check 1", outcome);
    expect_eq!(outcome.head, Head::default());
    expect_eq!(tenant.ids(all(&PARCELS)).await, [1]);
    expect_eq!(tenant.ids(indexed(BY_CODE, &[])).await, [0; 0]);
    expect_eq!((tenant.sequence("parcels").await, tenant.sequence("weight").await), (0, 0));
    expect_eq!((tenant.log().await.len(), tenant.head().await), (0, Head::default()));
}

/// Five parcels, of which the heaviest is the first, and a shelf.
async fn stocked(backend: &Arc<dyn Backend>) -> Tenant {
    let tenant = Tenant::fresh(backend).await;
    let stored = |id, name: &str, weight| {
        let code = format!("code {id}");
        parcel(id, &[(CODE, code.into()), (DEPOT, name.into()), (WEIGHT, int(weight))])
    };
    let parcels =
        vec![stored(1, "a", 30), stored(2, "a", 10), stored(3, "b", 10), stored(4, "a", 20)];
    let others = [parcel(5, &[]), shelf("a", 1, int(11)), shelf("b", 1, int(21))];
    tenant.write(parcels.into_iter().chain(others).collect()).await;
    tenant
}
