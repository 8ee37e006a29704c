//! Durability: records, logs and sequences survive when a backend is closed, or killed, and opened again.

use std::sync::Arc;

use swarm_core::store::backend::*;

use super::log::repeatable;
use super::tables::*;
use super::tenant::*;
use super::transfer::loading;
use crate::assertions::{ensure, expect_eq};

pub async fn records_survive_reopening<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    reopen: impl AsyncFnOnce(&G) -> Arc<dyn Backend>,
) {
    let tenant = Tenant::fresh(&backend).await;
    drop(backend);
    let columns = columns(int(1), &[(CODE, "co\0de".into())]);
    let put = Write::Put { table: &PARCELS, columns, body: body(&["label", "contents"]) };
    let others = [parcel(2, &[]), parcel(3, &[]), depot("a", 1), shelf("a", 1, int(1))];
    tenant.write(others.into_iter().chain([put.clone()]).collect()).await;
    tenant.write(vec![put, Write::Remove(with_id(2))]).await;
    let shown = async |tenant: &Tenant| {
        let ranges = [all(&PARCELS), indexed(BY_CODE, &[]), all(&DEPOTS), all(&SHELVES)];
        let reading = tenant.read(ranges.map(Query::Rows).into()).await;
        reading.answers.iter().map(super::tenant::records).collect::<Vec<_>>()
    };
    let before = shown(&tenant).await;
    let tenant = reopened(tenant, guard, reopen).await;
    expect_eq!(shown(&tenant).await, before);
    expect_eq!(before.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 1]);
}

/// Commits go on from there, and no number is used twice.
pub async fn log_and_sequences_survive_reopening<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    reopen: impl AsyncFnOnce(&G) -> Arc<dyn Backend>,
) {
    let tenant = Tenant::fresh(&backend).await;
    drop(backend);
    let commit = || Transaction {
        sequences: vec!["parcels"],
        writes: vec![Write::Add("weight", 5)],
        entries: vec![entry("first"), entry("second")],
        ..transaction()
    };
    tenant.committed(commit()).await;
    let (head, log) = (tenant.head().await, tenant.log().await);
    let tenant = reopened(tenant, guard, reopen).await;
    expect_eq!(tenant.head().await, head);
    expect_eq!(format!("{:?}", tenant.log().await), format!("{log:?}"));
    expect_eq!(tenant.sequence("weight").await, 5);
    let next = Transaction { seen: head, ..commit() };
    expect_eq!(tenant.committed(next).await.numbers, [2]);
    expect_eq!((tenant.log().await.len(), tenant.sequence("weight").await), (4, 10));
}

pub async fn repetition_is_recognized_after_reopening<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    reopen: impl AsyncFnOnce(&G) -> Arc<dyn Backend>,
) {
    let tenant = Tenant::fresh(&backend).await;
    drop(backend);
    let sent = repeatable("code", 1);
    tenant.committed(sent.clone()).await;
    let tenant = reopened(tenant, guard, reopen).await;
    let again = tenant.commit(sent).await;
    ensure!(matches!(again.decision, Decision::Repeated(_)), "a repetition", again);
    expect_eq!(tenant.log().await.len(), 1);
}

/// What was not committed is not there.
pub async fn loaded_records_survive_reopening<G>(
    backend: Arc<dyn Backend>,
    guard: &G,
    reopen: impl AsyncFnOnce(&G) -> Arc<dyn Backend>,
) {
    let (tenant, other) = (Tenant::fresh(&backend).await, Tenant::fresh(&backend).await);
    drop(backend);
    expect_eq!(loading(&tenant, 1).await.commit().await.unwrap(), None);
    drop(loading(&other, 1).await);
    let id = other.id.clone();
    drop(other);
    let tenant = reopened(tenant, guard, reopen).await;
    expect_eq!((tenant.ids(all(&PARCELS)).await, tenant.log().await.len()), (vec![1], 1));
    let other = Tenant { id, ..tenant };
    expect_eq!((other.ids(all(&PARCELS)).await, other.log().await.len()), (vec![], 0));
}

/// The same tenant of the backend that is opened again, after nothing refers to the earlier one.
async fn reopened<G>(
    tenant: Tenant,
    guard: &G,
    reopen: impl AsyncFnOnce(&G) -> Arc<dyn Backend>,
) -> Tenant {
    let Tenant { backend, id } = tenant;
    drop(backend);
    Tenant { backend: reopen(guard).await, id }
}
