//! Changes of records, and what a commit assigns.

use std::sync::Arc;

use swarm_core::domain::Version;
use swarm_core::store::backend::*;

use super::tables::*;
use super::tenant::*;
use crate::assertions::expect_eq;

/// Everything is replaced: no value or part of the earlier record stays.
pub async fn each_put_replaces_the_record_and_counts_its_version(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let put = |weight, body| {
        let columns = columns(int(1), &[(WEIGHT, int(weight))]);
        Write::Put { table: &PARCELS, columns, body }
    };
    let before = |part: &str| Some(part.to_owned());
    for (version, write, parts) in [
        (1, put(5, body(&["first", "contents"])), [before("first"), before("contents")]),
        (2, put(6, body(&["second"])), [before("second"), None]),
        (3, parcel(1, &[(DEPOT, "a".into())]), [before("label 1"), None]),
    ] {
        tenant.write(vec![write.clone(), parcel(2, &[])]).await;
        let Write::Put { columns, .. } = write else { continue };
        let columns: Vec<_> = columns.iter().filter_map(|column| column.sought(&[])).collect();
        let found = tenant.records(all(&PARCELS)).await.remove(0);
        expect_eq!((found.version, found.columns), (Version(version), columns));
        expect_eq!(found.parts, parts);
    }
}

pub async fn set_column_keeps_version_and_parts(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let parcels = |id| parcel(id, &[(DEPOT, "a".into()), (WEIGHT, int(id)), (UNPAID, int(1))]);
    tenant
        .write((1..=4).map(parcels).chain([shelf("a", 1, int(1)), shelf("b", 1, int(2))]).collect())
        .await;
    tenant.write(vec![parcels(2)]).await;
    let mut expected = tenant.records(all(&PARCELS)).await;
    let range =
        Range { after: Some(int(1)), before: Some(int(4)), ..indexed(BY_DEPOT, &["a".into()]) };
    let (nothing, shelf) =
        (Term::Value(Value::Null), Range { prefix: vec!["b".into()], ..all(&SHELVES) });
    tenant
        .write(vec![
            Write::Set { range, column: UNPAID, value: nothing },
            Write::Set { range: with_id(9), column: UNPAID, value: int(9) },
            Write::Set { range: shelf, column: LOAD, value: int(9) },
        ])
        .await;
    expected[1..3].iter_mut().for_each(|record| record.columns[UNPAID] = Value::Null);
    expect_eq!(tenant.records(all(&PARCELS)).await, expected);
    expect_eq!(tenant.integers(all(&SHELVES), LOAD).await, [1, 9]);
}

/// Both by a put of the record and by a change of one column.
pub async fn changed_record_moves_in_its_indexes(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let stored = |code: &str, depot: &str| {
        parcel(1, &[(CODE, code.into()), (DEPOT, depot.into()), (WEIGHT, int(10))])
    };
    let neighbour = parcel(2, &[(CODE, "other".into()), (DEPOT, "a".into()), (WEIGHT, int(20))]);
    let set = |column, value| Write::Set { range: with_id(1), column, value: Term::Value(value) };
    for (write, codes, in_a, in_b) in [
        (stored("code", "a"), &[1, 2][..], &[1, 2][..], &[][..]),
        (stored("code", "b"), &[1, 2], &[2], &[1]),
        (stored("zone", "a"), &[2, 1], &[1, 2], &[]),
        (set(WEIGHT, Value::Integer(30)), &[2, 1], &[2, 1], &[]),
        (set(DEPOT, Value::Null), &[2, 1], &[2], &[]),
        (set(CODE, Value::Null), &[2], &[2], &[]),
        (set(DEPOT, "b".into()), &[2], &[2], &[1]),
        (parcel(1, &[]), &[2], &[2], &[]),
    ] {
        tenant.write(vec![write.clone(), neighbour.clone()]).await;
        expect_eq!(tenant.ids(indexed(BY_CODE, &[])).await, codes, "after {write:?}");
        for (depot, expected) in [("a", in_a), ("b", in_b)] {
            let found = tenant.ids(indexed(BY_DEPOT, &[depot.into()])).await;
            expect_eq!(found, expected, "in {depot} after {write:?}");
        }
    }
}

/// An index shows the current columns and parts of its records.
pub async fn index_shows_the_current_record(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let put = |label: &str| {
        let columns = columns(int(1), &[(CODE, "code".into())]);
        Write::Put { table: &PARCELS, columns, body: body(&[label]) }
    };
    let set = Write::Set { range: with_id(1), column: UNPAID, value: int(1) };
    for write in [put("first"), put("second"), set] {
        tenant.write(vec![write]).await;
        let (by_key, by_code) = (with_id(1), indexed(BY_CODE, &["code".into()]));
        expect_eq!(tenant.records(by_code).await, tenant.records(by_key).await);
    }
}

/// A record that is written again under its key is a new one, with no part of the earlier one.
pub async fn removed_record_is_found_by_no_query(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let stored = |id| parcel(id, &[(DEPOT, "a".into()), (WEIGHT, int(10 - id))]);
    let shelves = [shelf("a", 1, int(11)), shelf("a", 2, int(12)), shelf("b", 1, int(21))];
    tenant.write((1..=4).map(stored).chain(shelves).collect()).await;
    tenant.write(vec![stored(2)]).await;
    let heavy = Range { after: Some(int(7)), ..indexed(BY_DEPOT, &["a".into()]) };
    let shelves = Range { prefix: vec!["a".into()], ..all(&SHELVES) };
    tenant.write([with_id(9), heavy, shelves].map(Write::Remove).into()).await;
    expect_eq!(tenant.ids(all(&PARCELS)).await, [3, 4]);
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &["a".into()])).await, [4, 3]);
    expect_eq!((tenant.ids(with_id(1)).await, tenant.count(with_id(1)).await), (vec![], 0));
    expect_eq!(tenant.integers(all(&SHELVES), LOAD).await, [21]);
    tenant.write(vec![bare_parcel(2)]).await;
    let again = tenant.records(with_id(2)).await.remove(0);
    expect_eq!((again.version, again.parts), (Version(1), [None, None]));
    tenant.write(vec![Write::Remove(all(&PARCELS))]).await;
    expect_eq!(tenant.count(all(&PARCELS)).await, 0);
}

pub async fn sum_is_never_below_zero(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for (amount, sum) in [(5, 5), (-3, 2), (-3, 0), (4, 4), (i64::from(u32::MAX), 4_294_967_299)] {
        tenant.write(vec![Write::Add("weight", amount)]).await;
        expect_eq!(tenant.sequence("weight").await, sum, "after {amount}");
    }
    tenant.write(vec![Write::Add("weight", -1), Write::Add("others", 1)]).await;
    expect_eq!(tenant.sequence("weight").await, 4_294_967_298);
}

/// Each sequence counts by itself, also if one is named twice.
pub async fn sequences_count_from_one(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    expect_eq!(tenant.sequence("parcels").await, 0);
    for (sequences, expected) in [
        (vec!["parcels"], &[1][..]),
        (vec!["parcels", "labels"], &[2, 1]),
        (vec!["labels", "parcels", "labels"], &[2, 3, 3]),
    ] {
        let assigned = tenant.committed(Transaction { sequences, ..transaction() }).await;
        expect_eq!(assigned.numbers, expected);
    }
    expect_eq!((tenant.sequence("parcels").await, tenant.sequence("labels").await), (3, 3));
}

/// In records, and in entries.
pub async fn placeholders_get_what_the_commit_assigns(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.committed(Transaction { sequences: vec!["labels"; 11], ..transaction() }).await;
    let columns = columns(
        Term::Assigned(0),
        &[(CODE, Term::AssignedText(1)), (WEIGHT, Term::Assigned(1)), (DUE, Term::Now)],
    );
    let assigned = tenant
        .committed(Transaction {
            sequences: vec!["parcels", "labels"],
            writes: vec![
                Write::Insert { table: &PARCELS, columns, body: body(&["label"]) },
                shelf("a", 1, Term::Assigned(1)),
                shelf("a", 2, int(0)),
                Write::Set {
                    range: Range::key(&SHELVES, vec!["a".into(), int(2)]),
                    column: LOAD,
                    value: Term::Now,
                },
            ],
            entries: vec![Append::Entry {
                topic: Some(Term::Assigned(1)),
                assigned: Some(1),
                reference: Some((&PARCELS, Term::Assigned(0))),
                body: body(&["entry"]),
            }],
            ..transaction()
        })
        .await;
    expect_eq!(assigned.numbers, [1, 12]);
    let parcel = tenant.records(indexed(BY_CODE, &["12".into()])).await;
    expect_eq!(parcel.len(), 1, "found by the number as text");
    let columns = [0, WEIGHT, DUE].map(|column| parcel[0].columns[column].clone());
    let now = assigned.at.into();
    expect_eq!(columns, [Value::Integer(1), Value::Integer(12), now]);
    expect_eq!(tenant.integers(all(&SHELVES), LOAD).await, [12, assigned.at.millis()]);
    let entry = tenant.log().await.remove(0);
    let key = entry.reference.as_ref().map(|it| (it.table.name, it.key, it.row.is_some()));
    expect_eq!(
        (entry.topic, entry.assigned, key),
        (Some(12), Some(12), Some(("parcels", 1, true)))
    );
    expect_eq!((entry.at, text(&entry)), (assigned.at, "entry".to_owned()));
}

pub async fn writes_are_made_in_their_order(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![parcel(1, &[(CODE, "code".into())]), parcel(2, &[])]).await;
    let scan =
        Write::Insert { table: &SCANS, columns: vec![int(1), "gate".into()], body: Body::empty() };
    tenant
        .write(vec![
            Write::Set { range: with_id(1), column: CODE, value: Term::Value(Value::Null) },
            parcel(3, &[(CODE, "code".into())]),
            Write::Remove(with_id(2)),
            parcel(2, &[]),
            Write::Set { range: all(&PARCELS), column: WEIGHT, value: int(1) },
            parcel(4, &[]),
            scan.clone(),
            Write::Remove(all(&SCANS)),
            scan,
            Write::Add("weight", -5),
            Write::Add("weight", 3),
        ])
        .await;
    expect_eq!(tenant.ids(indexed(BY_CODE, &["code".into()])).await, [3]);
    expect_eq!(tenant.ids(Range { having: Some(WEIGHT), ..all(&PARCELS) }).await, [1, 2, 3]);
    expect_eq!(tenant.records(with_id(2)).await[0].version, Version(1));
    expect_eq!((tenant.ids(all(&SCANS)).await, tenant.sequence("weight").await), (vec![1], 3));
}
