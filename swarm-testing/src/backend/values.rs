//! Values of columns and parts, and their order.

use std::sync::Arc;

use swarm_core::domain::Version;
use swarm_core::store::backend::*;

use super::tables::*;
use super::tenant::*;
use crate::assertions::expect_eq;

/// Texts in the order of their bytes, each different from all others.
const TEXTS: [&str; 16] = [
    "",
    "\0",
    "\0\0",
    "\0a",
    "\u{1}",
    " ",
    "A",
    "B",
    "a",
    "a\0",
    "a\0b",
    "a ",
    "aa",
    "ä",
    "\u{ffff}",
    "\u{10000}",
];

pub async fn record_round_trips(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let values = [
        (CODE, "code".into()),
        (DEPOT, "depot".into()),
        (WEIGHT, int(-7)),
        (SEAL, (&[0_u8, 255][..]).into()),
        (DUE, int(1_700_000_000_123)),
    ];
    let columns = columns(int(1), &values);
    let body = body(&["label", "contents"]);
    let expected: Vec<_> = columns.iter().filter_map(|term| term.sought(&[])).collect();
    tenant.write(vec![Write::Insert { table: &PARCELS, columns, body }, parcel(2, &[])]).await;
    let records = tenant.records(all(&PARCELS)).await;
    expect_eq!(records.len(), 2);
    expect_eq!((&records[0].version, &records[0].columns), (&Version(1), &expected));
    expect_eq!(records[0].parts, ["label", "contents"].map(|part| Some(part.to_owned())));
    expect_eq!(records[1].columns[1..], [const { Value::Null }; 6], "nulls");
}

/// Keys, columns and parts may have any character, also U+0000.
pub async fn texts_have_any_character(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for (id, text) in (1..).zip(TEXTS) {
        let columns = columns(int(id), &[(CODE, text.into())]);
        let parcel = Write::Put { table: &PARCELS, columns, body: body(&[text]) };
        tenant.write(vec![parcel, depot(text, id), shelf(text, id, int(id))]).await;
    }
    for (id, text) in (1..).zip(TEXTS) {
        let depot = Range::key(&DEPOTS, vec![text.into()]);
        expect_eq!(tenant.integers(depot, 1).await, [id], "the key {text:?}");
        let shelves = Range { prefix: vec![text.into()], ..all(&SHELVES) };
        expect_eq!(tenant.integers(shelves, 2).await, [id], "the first column {text:?}");
        let found = tenant.records(indexed(BY_CODE, &[text.into()])).await;
        expect_eq!(found.len(), 1, "the value {text:?}");
        expect_eq!(found[0].columns[..=CODE], [Value::Integer(id), text.into()]);
        expect_eq!(found[0].parts[0].as_deref(), Some(text));
    }
}

pub async fn texts_are_ordered_by_their_bytes(backend: Arc<dyn Backend>) {
    expect_order(&backend, BY_CODE, CODE, &TEXTS.map(Value::from)).await;
}

pub async fn bytes_are_ordered_as_such(backend: Arc<dyn Backend>) {
    let seals: [&[u8]; 8] = [&[], &[0], &[0, 0], &[0, 255], &[1], &[127], &[128, 0], &[255]];
    expect_order(&backend, BY_SEAL, SEAL, &seals.map(Value::from)).await;
}

pub async fn integers_have_64_bits(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let beyond_doubles = (1 << 53) + 1;
    let numbers = [
        i64::MIN,
        i64::MIN + 1,
        -256,
        -1,
        0,
        1,
        255,
        256,
        beyond_doubles,
        beyond_doubles + 1,
        i64::MAX,
    ];
    let parcels = |number: &i64| parcel(*number, &[(DEPOT, "a".into()), (WEIGHT, int(*number))]);
    tenant.write(numbers.iter().rev().map(parcels).collect()).await;
    for range in [all(&PARCELS), indexed(BY_DEPOT, &["a".into()])] {
        expect_eq!(tenant.ids(range.clone()).await, numbers);
        expect_eq!(tenant.integers(range.clone(), WEIGHT).await, numbers);
        for (place, number) in numbers.into_iter().enumerate() {
            let after = Range { after: Some(int(number)), ..range.clone() };
            expect_eq!(tenant.ids(after).await, numbers[place + 1..], "after {number}");
        }
    }
    expect_eq!(tenant.ids(with_id(i64::MIN)).await, [i64::MIN]);
}

pub async fn times_may_be_before_1970(backend: Arc<dyn Backend>) {
    let times = [-62_167_219_200_000, -1, 0, 1, 253_402_300_799_999];
    expect_order(&backend, BY_DUE, DUE, &times.map(Value::Integer)).await;
}

/// Also if only one of the columns of the index is null.
pub async fn record_with_a_null_is_not_in_the_index(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant
        .write(vec![
            parcel(1, &[(DEPOT, "a".into())]),
            parcel(2, &[(WEIGHT, int(1))]),
            parcel(3, &[(DEPOT, "a".into()), (WEIGHT, int(1))]),
        ])
        .await;
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &[])).await, [3]);
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &["a".into()])).await, [3]);
    expect_eq!(
        tenant.ids(descending(indexed(BY_CODE, &[]))).await,
        [0; 0],
        "nulls in a unique index"
    );
    expect_eq!(tenant.count(all(&PARCELS)).await, 3);
}

pub async fn long_texts_round_trip(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let (key, part) = ("schlüssel ".repeat(25), "€\0\"\n".repeat(200_000));
    let write = Write::Put {
        table: &DEPOTS,
        columns: vec![key.as_str().into(), int(1)],
        body: body(&[&part]),
    };
    tenant.write(vec![write]).await;
    let found = tenant.records(Range::key(&DEPOTS, vec![key.as_str().into()])).await;
    let lengths = found.iter().map(|it| it.parts[0].as_ref().map(String::len)).collect::<Vec<_>>();
    expect_eq!(lengths, [Some(part.len())]);
    expect_eq!(found[0].parts[0] == Some(part), true);
}

/// In a table and in an index: texts of the maximum length that differ in the last byte.
pub async fn long_keys_are_distinct(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let texts = ["a", "b"].map(|last| "\u{1f680}".repeat(321) + last);
    for (id, text) in (1..).zip(&texts) {
        tenant.write(vec![depot(text, id), parcel(id, &[(CODE, text.as_str().into())])]).await;
    }
    for (id, text) in (1..).zip(&texts) {
        let depot = Range::key(&DEPOTS, vec![text.as_str().into()]);
        expect_eq!(tenant.integers(depot, 1).await, [id]);
        expect_eq!(tenant.ids(indexed(BY_CODE, &[text.as_str().into()])).await, [id]);
    }
    expect_eq!(tenant.ids(indexed(BY_CODE, &[])).await, [1, 2]);
}

/// Writes parcels with these values, last first, and expects them in their order, from each of them on.
async fn expect_order(backend: &Arc<dyn Backend>, index: usize, column: usize, values: &[Value]) {
    let tenant = Tenant::fresh(backend).await;
    let parcel = |(id, value): (i64, &Value)| parcel(id, &[(column, Term::Value(value.clone()))]);
    let ids: Vec<i64> = (1..).take(values.len()).collect();
    tenant.write(ids.iter().copied().zip(values).rev().map(parcel).collect()).await;
    expect_eq!(tenant.ids(indexed(index, &[])).await, ids);
    for (place, value) in values.iter().enumerate() {
        let (value, all) = (Some(Term::Value(value.clone())), indexed(index, &[]));
        let prefix = value.clone().into_iter().collect();
        let found = tenant.records(Range { prefix, ..all.clone() }).await;
        expect_eq!(found.len(), 1, "{value:?}");
        expect_eq!(found[0].columns[column], values[place]);
        let before = Range { before: value.clone(), ..all.clone() };
        expect_eq!(tenant.ids(before).await, ids[..place], "before {value:?}");
        let after = descending(Range { after: value.clone(), ..all });
        let later: Vec<_> = ids[place + 1..].iter().rev().copied().collect();
        expect_eq!(tenant.ids(after).await, later, "after {value:?}");
    }
}
