//! Queries: ranges of records, and what else is read with them.

use std::sync::Arc;

use swarm_core::domain::Seq;
use swarm_core::store::backend::*;

use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};

pub async fn record_is_found_by_its_key(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let found = tenant.records(with_id(3)).await;
    expect_eq!(found.len(), 1);
    expect_eq!(found[0].columns[DEPOT], "b".into());
    expect_eq!(tenant.ids(with_id(7)).await, [0; 0]);
    for (name, number, load) in
        [("a", 1, &[11][..]), ("a", 2, &[12]), ("b", 1, &[21]), ("b", 2, &[])]
    {
        let key = Range::key(&SHELVES, vec![name.into(), int(number)]);
        expect_eq!(tenant.integers(key, LOAD).await, load);
    }
}

pub async fn records_are_in_the_order_of_their_key(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    expect_eq!(tenant.ids(all(&PARCELS)).await, [1, 2, 3, 4, 5, 6]);
    expect_eq!(tenant.ids(descending(all(&PARCELS))).await, [6, 5, 4, 3, 2, 1]);
    expect_eq!(tenant.integers(all(&SHELVES), LOAD).await, [11, 12, 13, 21]);
    expect_eq!(tenant.integers(descending(all(&SHELVES)), LOAD).await, [21, 13, 12, 11]);
}

/// Records with the same values in the index are in the order of their key.
pub async fn records_are_in_the_order_of_an_index(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &[])).await, [2, 5, 1, 4, 3]);
    expect_eq!(tenant.ids(descending(indexed(BY_DEPOT, &[]))).await, [3, 4, 1, 5, 2]);
}

/// A prefix is of whole values.
pub async fn prefix_selects_records_with_its_values(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &["a".into()])).await, [2, 5, 1]);
    expect_eq!(tenant.ids(descending(indexed(BY_DEPOT, &["a".into()]))).await, [1, 5, 2]);
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &["a".into(), int(10)])).await, [2, 5]);
    expect_eq!(tenant.ids(indexed(BY_DEPOT, &["".into()])).await, [0; 0]);
    let shelves = Range { prefix: vec!["a".into()], ..all(&SHELVES) };
    expect_eq!(tenant.integers(shelves, LOAD).await, [11, 12, 13]);
}

/// The bounds apply to the column after the prefix, in both directions.
pub async fn bounds_of_a_range_are_exclusive(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let between = |range: Range, after, before| Range { after, before, ..range };
    let parcels = |after: Option<i64>, before: Option<i64>| {
        between(all(&PARCELS), after.map(int), before.map(int))
    };
    let depots = |after: Option<&str>, before: Option<&str>| {
        between(indexed(BY_DEPOT, &[]), after.map(Term::from), before.map(Term::from))
    };
    let in_a = |after: Option<i64>, before: Option<i64>| {
        between(indexed(BY_DEPOT, &["a".into()]), after.map(int), before.map(int))
    };
    for (range, expected) in [
        (parcels(Some(2), None), &[3, 4, 5, 6][..]),
        (parcels(None, Some(3)), &[1, 2]),
        (parcels(Some(2), Some(5)), &[3, 4]),
        (parcels(Some(2), Some(3)), &[]),
        (parcels(Some(5), Some(2)), &[]),
        (parcels(Some(3), Some(3)), &[]),
        (depots(Some("a"), None), &[4, 3]),
        (depots(None, Some("ab")), &[2, 5, 1]),
        (depots(Some("a"), Some("b")), &[4]),
        (in_a(Some(10), None), &[1]),
        (in_a(Some(9), None), &[2, 5, 1]),
        (in_a(None, Some(30)), &[2, 5]),
        (in_a(Some(9), Some(31)), &[2, 5, 1]),
    ] {
        expect_eq!(tenant.ids(range.clone()).await, expected, "{range:?}");
        let backwards: Vec<_> = expected.iter().rev().copied().collect();
        expect_eq!(tenant.ids(descending(range.clone())).await, backwards, "{range:?} backwards");
    }
    let shelves = Range { prefix: vec!["a".into()], after: Some(int(1)), ..all(&SHELVES) };
    expect_eq!(tenant.integers(shelves, LOAD).await, [12, 13]);
}

pub async fn range_may_leave_out_records_without_a_value(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let unpaid = Range { having: Some(UNPAID), ..all(&PARCELS) };
    expect_eq!(tenant.ids(unpaid.clone()).await, [3, 5]);
    expect_eq!(tenant.ids(descending(unpaid.clone())).await, [5, 3]);
    expect_eq!(tenant.ids(Range { limit: 1, ..unpaid.clone() }).await, [3]);
    expect_eq!(tenant.count(unpaid).await, 2);
    for (id, expected) in [(3, &[3][..]), (4, &[])] {
        let with_its_key = Range { having: Some(UNPAID), ..with_id(id) };
        expect_eq!(tenant.ids(with_its_key).await, expected);
    }
}

pub async fn range_has_at_most_its_limit(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    for (limit, expected) in [(0, &[][..]), (1, &[2]), (3, &[2, 5, 1]), (9, &[2, 5, 1, 4, 3])] {
        let range = Range { limit, ..indexed(BY_DEPOT, &[]) };
        expect_eq!(tenant.ids(range).await, expected, "at most {limit}");
    }
    let last = Range { limit: 2, ..descending(all(&PARCELS)) };
    expect_eq!(tenant.ids(last).await, [6, 5]);
}

/// The size is that of the parts that are read, in bytes. One record is always read.
pub async fn range_is_limited_in_bytes(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let put = |id, parts: &[&str]| {
        let columns = columns(int(id), &[]);
        Write::Put { table: &PARCELS, columns, body: body(parts) }
    };
    tenant.write(vec![put(1, &["äää", "1234"]), put(2, &["12345"]), put(3, &["123456"])]).await;
    let (label, everything) = (PartSet::of(&[0]), PartSet::ALL);
    for (bytes, parts, expected, has_more) in [
        (0, label, &[1][..], true),
        (10, label, &[1], true),
        (11, label, &[1, 2], true),
        (16, label, &[1, 2], true),
        (17, label, &[1, 2, 3], false),
        (14, everything, &[1], true),
        (15, everything, &[1, 2], true),
        (21, everything, &[1, 2, 3], false),
        (0, PartSet::NONE, &[1, 2, 3], false),
    ] {
        let range = Range { bytes, parts, ..all(&PARCELS) };
        let answer = tenant.answer(Query::Rows(range)).await;
        let Answer::Rows { has_more: found, .. } = &answer else { continue };
        expect_eq!(
            (integers(&answer, 0).as_slice(), *found),
            (expected, has_more),
            "{bytes} bytes"
        );
    }
    let range = Range { bytes: 6, parts: label, ..descending(all(&PARCELS)) };
    expect_eq!(tenant.ids(range).await, [3]);
}

pub async fn parts_are_read_as_named(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let both = body(&["label", "contents"]);
    let second = Body::of_texts(vec![None, Some("".into())]);
    let columns = |id| columns(int(id), &[]);
    tenant
        .write(vec![
            Write::Put { table: &PARCELS, columns: columns(1), body: both },
            Write::Put { table: &PARCELS, columns: columns(2), body: second },
            Write::Put { table: &PARCELS, columns: columns(3), body: Body::empty() },
        ])
        .await;
    let stored = [[Some("label"), Some("contents")], [None, Some("")], [None, None]];
    for (parts, read) in
        [(PartSet::ALL, &[0, 1][..]), (PartSet::of(&[0]), &[0]), (PartSet::of(&[1]), &[1])]
    {
        let answer = tenant.answer(Query::Rows(Range { parts, ..all(&PARCELS) })).await;
        expect_eq!(answer.rows().len(), 3);
        for (row, stored) in answer.rows().iter().zip(stored) {
            for part in read {
                expect_eq!(row.body.part(*part).as_deref(), stored[*part], "part {part}");
            }
        }
    }
    expect_eq!(tenant.ids(Range { parts: PartSet::NONE, ..all(&PARCELS) }).await, [1, 2, 3]);
}

/// The third letter has no seal, the fourth a depot with a capacity, and the last one no depot. Whether the text of the first two is
/// returned is up to the backend: records say whether it is veiled.
pub async fn part_is_veiled_until_another_record_says_otherwise(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let letter = |id: i64, depot: Option<&str>, is_sealed: bool, text: &str| Write::Put {
        table: &LETTERS,
        columns: vec![int(id), depot.into(), is_sealed.then_some(&[7_u8][..]).into()],
        body: body(&[&format!("address {id}"), text]),
    };
    let closed = |capacity: Term| Write::Put {
        table: &DEPOTS,
        columns: vec!["closed".into(), capacity],
        body: body(&["address"]),
    };
    let long = "A long letter. ".repeat(20_000);
    let letters = [
        letter(1, Some("closed"), true, "short"),
        letter(2, Some("closed"), true, &long),
        letter(3, Some("closed"), false, "short"),
        letter(4, Some("open"), true, "short"),
        letter(5, None, true, "short"),
    ];
    let depots = [closed(Value::Null.into()), depot("open", 1)];
    tenant.write(letters.into_iter().chain(depots).collect()).await;
    let refer = |id| Append::Entry {
        topic: None,
        assigned: None,
        reference: Some((&LETTERS, int(id))),
        body: body(&["entry"]),
    };
    tenant.append((1..=5).map(refer).collect()).await;
    expect_veiled(&tenant, PartSet::SHOWN, [true, true, false, false, true]).await;
    expect_veiled(&tenant, PartSet::ALL, [false; 5]).await;
    tenant.write(vec![closed(int(9))]).await;
    expect_veiled(&tenant, PartSet::SHOWN, [false, false, false, false, true]).await;
}

async fn expect_veiled(tenant: &Tenant, parts: PartSet, veiled: [bool; 5]) {
    let seen = |row: &Row| {
        let is_there =
            row.body.part(1).is_some_and(|letter| letter.ends_with("short") || letter.len() > 9);
        ensure!(row.body.is_veiled() || is_there, "the letter", row.columns);
        expect_eq!(row.body.part(0).is_some(), true, "its address");
        row.body.is_veiled()
    };
    let answer = tenant.answer(Query::Rows(Range { parts, ..all(&LETTERS) })).await;
    expect_eq!(answer.rows().iter().map(seen).collect::<Vec<_>>(), veiled, "all");
    for (id, is_veiled) in (1..).zip(veiled) {
        let one = Range { parts, ..Range::key(&LETTERS, vec![int(id)]) };
        let answer = tenant.answer(Query::Rows(one)).await;
        expect_eq!(answer.rows().iter().map(seen).collect::<Vec<_>>(), [is_veiled], "{id}");
    }
    let entries = Entries { topic: None, after: Seq(0), limit: 9, parts };
    let Answer::Entries(entries) = tenant.answer(Query::Entries(entries)).await else { return };
    let rows = entries.iter().filter_map(|entry| entry.reference.as_ref()?.row.as_ref());
    expect_eq!(rows.map(seen).collect::<Vec<_>>(), veiled, "those that entries refer to");
}

/// There is `None` for a key that is null, and for one that no record has.
pub async fn records_are_joined_with_those_they_name(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let join = Some(Join { table: &DEPOTS, column: DEPOT, parts: PartSet::ALL });
    let answer = tenant.answer(Query::Rows(Range { join, ..all(&PARCELS) })).await;
    expect_eq!(integers(&answer, 0), [1, 2, 3, 4, 5, 6]);
    let Answer::Rows { joined, .. } = answer else { return };
    let joined: Vec<_> = joined.iter().map(|row| row.as_ref().map(Record::of)).collect();
    let depots = tenant.records(all(&DEPOTS)).await;
    let [a, b] = [0, 1].map(|depot| Some(depots[depot].clone()));
    expect_eq!(joined, [a.clone(), a.clone(), b, None, a, None]);
}

/// The limit is the largest number that matters.
pub async fn records_are_counted_up_to_a_limit(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    expect_eq!(tenant.count(all(&PARCELS)).await, 6);
    expect_eq!(tenant.count(indexed(BY_DEPOT, &[])).await, 5);
    expect_eq!(tenant.count(indexed(BY_DEPOT, &["a".into()])).await, 3);
    expect_eq!(tenant.count(with_id(7)).await, 0);
    for limit in [0, 4] {
        expect_eq!(tenant.count(Range { limit, ..all(&PARCELS) }).await, limit as u64);
    }
    expect_eq!(tenant.count(Range { after: Some(int(4)), ..all(&PARCELS) }).await, 2);
}

/// A query finds nothing if the one that it refers to found nothing, or a null.
pub async fn query_uses_values_found_before(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    for (id, depots, others, later) in [
        (1, &[100][..], &[2, 5, 1][..], &[2, 3, 4, 5, 6][..]),
        (4, &[], &[4], &[5, 6]),
        (6, &[], &[], &[]),
        (7, &[], &[], &[]),
    ] {
        let by_depot = indexed(BY_DEPOT, &[Term::Found(0, DEPOT)]);
        let reading = tenant
            .read(vec![
                Query::Rows(with_id(id)),
                Query::Rows(Range::key(&DEPOTS, vec![Term::Found(0, DEPOT)])),
                Query::Rows(by_depot.clone()),
                Query::Count(by_depot),
                Query::Rows(Range { after: Some(Term::Found(0, 0)), ..all(&PARCELS) }),
                Query::Rows(Range { before: Some(Term::Found(4, 0)), ..all(&PARCELS) }),
            ])
            .await;
        let [_, depot, by_depot, count, after, before] = &reading.answers[..] else {
            ensure!(false, "six answers", reading.answers);
            return;
        };
        expect_eq!(integers(depot, 1), depots, "the depot of {id}");
        expect_eq!(integers(by_depot, 0), others, "those in the depot of {id}");
        expect_eq!(number(count), others.len() as u64, "those in the depot of {id}");
        expect_eq!(integers(after, 0), later, "those after {id}");
        let up_to = if later.is_empty() { 0 } else { id };
        expect_eq!(integers(before, 0), (1..=up_to).collect::<Vec<_>>(), "those up to {id}");
    }
}

pub async fn answers_have_the_order_of_their_queries(backend: Arc<dyn Backend>) {
    let tenant = stocked(&backend).await;
    let entries = Entries { topic: None, after: Seq(0), limit: 9, parts: PartSet::ALL };
    let reading = tenant
        .read(vec![
            Query::Count(all(&PARCELS)),
            Query::Rows(with_id(5)),
            Query::CommitOf(Seq(1)),
            Query::Sequence("unused"),
            Query::Entries(entries),
            Query::Rows(with_id(2)),
        ])
        .await;
    let [count, fifth, Answer::Commit(None), unused, Answer::Entries(entries), second] =
        &reading.answers[..]
    else {
        ensure!(false, "an answer for each query, in their order", reading.answers);
        return;
    };
    expect_eq!((number(count), number(unused), entries.len()), (6, 0, 0));
    expect_eq!((integers(fifth, 0), integers(second, 0)), (vec![5], vec![2]));
    expect_eq!(records(fifth)[0].parts[0].as_deref(), Some("label 5"));
}

/// Six parcels in three depots, one of them in none; two depots with shelves.
async fn stocked(backend: &Arc<dyn Backend>) -> Tenant {
    let tenant = Tenant::fresh(backend).await;
    let stored = |id, name: &str, weight| {
        let code = format!("code {}", 9 - id);
        let mut columns = vec![(CODE, code.into()), (DEPOT, name.into()), (WEIGHT, int(weight))];
        columns.extend([3, 5].contains(&id).then_some((UNPAID, int(1))));
        parcel(id, &columns)
    };
    let parcels = [
        stored(3, "b", 10),
        stored(1, "a", 30),
        stored(5, "a", 10),
        parcel(6, &[(WEIGHT, int(10))]),
        stored(2, "a", 10),
        stored(4, "ab", 20),
    ];
    let shelves = [shelf("a", 3, int(13)), shelf("b", 1, int(21)), shelf("a", 1, int(11))];
    let depots = [depot("b", 200), depot("a", 100), shelf("a", 2, int(12))];
    tenant.write(parcels.into_iter().chain(shelves).chain(depots).collect()).await;
    tenant
}
