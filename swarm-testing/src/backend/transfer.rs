//! Snapshots, and records that are loaded.

use std::sync::Arc;

use swarm_core::domain::{Seq, Timestamp};
use swarm_core::store::backend::*;

use super::consistency::{expect_whole, moves, moving};
use super::tables::*;
use super::tenant::*;
use super::tenants::{pair, scan};
use crate::assertions::expect_eq;

/// However often it is read. Commits are made meanwhile.
pub async fn snapshot_shows_no_later_commit(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![parcel(1, &[(CODE, "code".into())])]).await;
    tenant.committed(moving()).await;
    let mut snapshot = tenant.snapshot().await;
    let mut empty = Tenant::fresh(&backend).await.snapshot().await;
    for _ in 0..2 {
        tenant.committed(moving()).await;
        tenant.write(vec![parcel(2, &[]), Write::Remove(with_id(1))]).await;
        expect_eq!(expect_whole(&snapshot.read(moves()).await.unwrap()), 1);
        let by_code = indexed(BY_CODE, &["code".into()]);
        let queries = [all(&PARCELS), by_code].map(Query::Rows);
        let reading = snapshot.read(queries.to_vec()).await.unwrap();
        let ids: Vec<_> = reading.answers.iter().map(|answer| integers(answer, 0)).collect();
        expect_eq!(ids, [[1], [1]]);
    }
    expect_eq!(empty.read(Vec::new()).await.unwrap().head, Head::default());
    drop(snapshot);
    expect_eq!(expect_whole(&tenant.read(moves()).await), 3);
}

/// Tenants that are loaded together are separate.
pub async fn loaded_records_are_readable_after_the_commit(backend: Arc<dyn Backend>) {
    let (one, other) = pair(&backend).await;
    let mut load = backend.load().await.unwrap();
    for (tenant, ids) in [(&one, 1..=3), (&other, 3..=4)] {
        let code = |id: i64| vec![(CODE, format!("code {id}").into()), (UNPAID, int(1))];
        let items = ids.map(|id| Item::Write(parcel(id, &code(id)))).collect();
        load.write(&tenant.id, items).await.unwrap();
        let paid = Term::Value(Value::Null);
        let set = Write::Set { range: with_id(3), column: UNPAID, value: paid };
        load.write(&tenant.id, vec![Item::Write(set)]).await.unwrap();
    }
    for tenant in [&one, &other] {
        expect_eq!(tenant.count(all(&PARCELS)).await, 0, "before the commit");
        expect_eq!(backend.tenants().await.unwrap().contains(&tenant.id), false);
    }
    expect_eq!(load.commit().await.unwrap(), None);
    expect_eq!(one.ids(indexed(BY_CODE, &[])).await, [1, 2, 3]);
    expect_eq!(other.ids(all(&PARCELS)).await, [3, 4]);
    expect_eq!(one.integers(all(&PARCELS), UNPAID).await, [1, 1]);
    let third = one.records(with_id(3)).await;
    expect_eq!((third[0].version.0, third[0].parts[0].as_deref()), (1, Some("label 3")));
    one.write(vec![parcel(1, &[])]).await;
    expect_eq!(one.records(with_id(1)).await[0].version.0, 2);
    expect_eq!(backend.tenants().await.unwrap().contains(&other.id), true);
}

/// Entries keep their numbers, times and commits; commits go on from there.
pub async fn loaded_log_and_sequences_are_continued(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    let (first, second) = (commit_id(), commit_id());
    let at = |seq: u64| Timestamp::EPOCH.plus_millis(i64::try_from(seq).unwrap() - 2);
    let loaded = |seq: u64, commit, reference: Option<u64>| Entry {
        seq: Seq(seq),
        at: at(seq),
        commit,
        topic: (seq == 2).then_some(7),
        assigned: (seq == 1).then_some(5),
        reference: reference.map(|key| Reference { table: &PARCELS, key, row: None }),
        body: body(&[&format!("text {seq}")]),
    };
    let mut load = backend.load().await.unwrap();
    let parcels = vec![
        Item::Write(parcel(1, &[])),
        Item::Sequence("parcels", 5),
        Item::Sequence("weight", 9),
        Item::Entry(1, loaded(1, first, Some(1))),
    ];
    load.write(&tenant.id, parcels).await.unwrap();
    let entries =
        vec![Item::Entry(3, loaded(2, second, None)), Item::Entry(3, loaded(3, second, Some(2)))];
    load.write(&tenant.id, entries).await.unwrap();
    expect_eq!(load.commit().await.unwrap(), None);

    let head = Head { log: 3, size: Seq(3), at: Some(at(3)), commit: Some(second) };
    expect_eq!(tenant.head().await, head);
    let log = tenant.log().await;
    let found: Vec<_> = log.iter().map(|it| (it.at, it.commit, it.topic, it.assigned)).collect();
    let expected = [
        (at(1), first, None, Some(5)),
        (at(2), second, Some(7), None),
        (at(3), second, None, None),
    ];
    expect_eq!(found, expected);
    let first_record = log[0].reference.as_ref().and_then(|it| it.row.as_ref().map(Record::of));
    expect_eq!(first_record, tenant.records(with_id(1)).await.pop());
    expect_eq!(log[2].reference.as_ref().map(|it| (it.key, it.row.is_some())), Some((2, false)));
    expect_eq!(text(&log[2]), "text 3");
    expect_eq!((tenant.sequence("parcels").await, tenant.sequence("weight").await), (5, 9));

    let (sequences, entries) = (vec!["parcels"], vec![entry("next")]);
    let next = Transaction { seen: head, sequences, entries, ..transaction() };
    expect_eq!(tenant.committed(next).await.numbers, [6]);
    expect_eq!(numbers(&tenant.log().await), [1, 2, 3, 4]);
    expect_eq!(numbers(&tenant.entries(Some(7), 0, 9).await), [2]);
    expect_eq!(tenant.head().await.log, 3);
}

/// A load that is dropped is discarded, too.
pub async fn discarded_load_leaves_nothing(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    for is_dropped in [false, true] {
        let load = loading(&tenant, 1).await;
        match is_dropped {
            true => drop(load),
            false => load.discard().await.unwrap(),
        }
        expect_eq!((tenant.count(all(&PARCELS)).await, tenant.sequence("parcels").await), (0, 0));
        expect_eq!((tenant.head().await, tenant.log().await.len()), (Head::default(), 0));
    }
    expect_eq!(loading(&tenant, 2).await.commit().await.unwrap(), None);
    expect_eq!((tenant.ids(all(&PARCELS)).await, tenant.log().await.len()), (vec![2], 1));
}

/// Nor any other tenant of the load. A log alone is enough.
pub async fn used_tenant_is_not_loaded(backend: Arc<dyn Backend>) {
    let (used, other) = pair(&backend).await;
    used.write(vec![parcel(1, &[])]).await;
    let logged = Tenant::fresh(&backend).await;
    logged.append(vec![entry("before")]).await;
    let mut first = loading(&used, 2).await;
    first.write(&other.id, vec![Item::Write(parcel(3, &[]))]).await.unwrap();
    expect_eq!(first.commit().await.unwrap(), Some(used.id.clone()));
    let mut second = loading(&other, 2).await;
    second.write(&logged.id, vec![Item::Write(parcel(4, &[]))]).await.unwrap();
    expect_eq!(second.commit().await.unwrap(), Some(logged.id.clone()));
    expect_eq!((used.ids(all(&PARCELS)).await, used.log().await.len()), (vec![1], 0));
    expect_eq!((logged.ids(all(&PARCELS)).await, logged.log().await.len()), (vec![], 1));
    expect_eq!((other.ids(all(&PARCELS)).await, other.head().await), (vec![], Head::default()));
}

pub async fn transient_records_are_kept_by_a_load(backend: Arc<dyn Backend>) {
    let tenant = Tenant::fresh(&backend).await;
    tenant.write(vec![scan(5), scan(6)]).await;
    expect_eq!(loading(&tenant, 1).await.commit().await.unwrap(), None);
    expect_eq!(tenant.ids(all(&PARCELS)).await, [1]);
    expect_eq!(tenant.ids(all(&SCANS)).await, [5, 6]);
}

/// It may be used again from the beginning, and removed again. Other tenants keep what they have.
pub async fn removed_tenant_has_nothing_left(backend: Arc<dyn Backend>) {
    let (removed, other) = pair(&backend).await;
    for tenant in [&removed, &other] {
        expect_eq!(loading(tenant, 1).await.commit().await.unwrap(), None);
        tenant.write(vec![scan(5)]).await;
        tenant.append(vec![entry("after")]).await;
    }
    for _ in 0..2 {
        backend.remove(&removed.id).await.unwrap();
        expect_eq!(removed.ids(all(&PARCELS)).await, [0; 0]);
        expect_eq!(removed.ids(all(&SCANS)).await, [0; 0]);
        expect_eq!(removed.sequence("parcels").await, 0);
        expect_eq!((removed.head().await, removed.log().await.len()), (Head::default(), 0));
        expect_eq!(backend.tenants().await.unwrap().contains(&removed.id), false);
    }
    expect_eq!(loading(&removed, 2).await.commit().await.unwrap(), None);
    expect_eq!((removed.ids(all(&PARCELS)).await, removed.log().await.len()), (vec![2], 1));
    removed.write(vec![bare_parcel(1)]).await;
    expect_eq!(removed.records(with_id(1)).await[0].parts, [None, None], "a part that was removed");
    expect_eq!((other.ids(all(&PARCELS)).await, other.log().await.len()), (vec![1], 2));
    expect_eq!((other.ids(all(&SCANS)).await, other.sequence("parcels").await), (vec![5], 1));
}

/// A load of a parcel, a sequence and an entry, which is not committed.
pub(super) async fn loading(tenant: &Tenant, id: i64) -> Box<dyn Load> {
    let mut load = tenant.backend.load().await.unwrap();
    let entry = Entry {
        seq: Seq(1),
        at: Timestamp::EPOCH,
        commit: commit_id(),
        topic: None,
        assigned: None,
        reference: None,
        body: body(&["loaded"]),
    };
    let sequence = Item::Sequence("parcels", id.unsigned_abs());
    let items = vec![Item::Write(parcel(id, &[])), sequence, Item::Entry(1, entry)];
    load.write(&tenant.id, items).await.unwrap();
    load
}
