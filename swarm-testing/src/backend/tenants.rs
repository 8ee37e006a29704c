//! Tenants, which share nothing.

use std::sync::Arc;

use swarm_core::domain::{Seq, TenantId, Version};
use swarm_core::store::Readiness;
use swarm_core::store::backend::*;

use super::log::repeatable;
use super::tables::*;
use super::tenant::*;
use crate::assertions::{ensure, expect_eq};

pub async fn backend_is_ready(backend: Arc<dyn Backend>) {
    expect_eq!(backend.ready().await.map_err(|error| error.kind()), Ok(Readiness::default()));
}

pub async fn records_are_isolated_by_tenant(backend: Arc<dyn Backend>) {
    let (one, other) = pair(&backend).await;
    let code = |code: &str| parcel(1, &[(CODE, code.into())]);
    one.write(vec![code("code"), parcel(2, &[]), depot("a", 1)]).await;
    expect_eq!((other.ids(all(&PARCELS)).await, other.ids(with_id(1)).await), (vec![], vec![]));
    expect_eq!(other.ids(indexed(BY_CODE, &["code".into()])).await, [0; 0]);
    expect_eq!((other.count(all(&PARCELS)).await, other.records(all(&DEPOTS)).await.len()), (0, 0));

    other.write(vec![code("code")]).await;
    expect_eq!(other.records(with_id(1)).await[0].version, Version(1));
    other.write(vec![code("other"), Write::Remove(with_id(2))]).await;
    expect_eq!(other.ids(indexed(BY_CODE, &[])).await, [1]);
    expect_eq!(one.ids(indexed(BY_CODE, &["code".into()])).await, [1]);
    expect_eq!(one.ids(all(&PARCELS)).await, [1, 2]);
}

pub async fn checks_are_isolated_by_tenant(backend: Arc<dyn Backend>) {
    let (one, other) = pair(&backend).await;
    let sent = repeatable("code", 1);
    one.committed(Transaction { repetition: None, ..sent.clone() }).await;
    one.write(vec![Write::Add("weight", 5)]).await;
    for check in [
        Check::Version { table: &PARCELS, key: vec![int(1)], expected: None },
        Check::None { range: indexed(BY_CODE, &[]), except: Vec::new() },
        Check::Count { range: all(&PARCELS), except: Vec::new(), least: 0, most: 0 },
        Check::Sum("weight", 4),
    ] {
        expect_eq!(other.is_met(check.clone()).await, true, "{check:?}");
    }
    let made = other.commit(sent).await;
    ensure!(matches!(made.decision, Decision::Committed(_)), "no repetition", made);
}

pub async fn sequences_are_isolated_by_tenant(backend: Arc<dyn Backend>) {
    let (one, other) = pair(&backend).await;
    for (tenant, number) in [(&one, 1), (&other, 1), (&one, 2)] {
        let sequences = vec!["parcels"];
        let assigned = tenant.committed(Transaction { sequences, ..transaction() }).await;
        expect_eq!(assigned.numbers, [number]);
    }
    one.write(vec![Write::Add("weight", 5)]).await;
    expect_eq!((one.sequence("parcels").await, other.sequence("parcels").await), (2, 1));
    expect_eq!((one.sequence("weight").await, other.sequence("weight").await), (5, 0));
}

pub async fn logs_are_isolated_by_tenant(backend: Arc<dyn Backend>) {
    let (one, other) = pair(&backend).await;
    let (topic, body) = (Some(int(7)), body(&["text"]));
    let about = Append::Entry { topic, assigned: None, reference: None, body };
    one.append(vec![about, entry("text")]).await;
    let kind = Kind::AcceptLog;
    one.committed(Transaction { kind, entries: vec![entry("text")], ..transaction() }).await;
    expect_eq!((other.head().await, other.log().await.len()), (Head::default(), 0));
    expect_eq!(other.entries(Some(7), 0, 9).await.len(), 0);
    let commit = other.answer(Query::CommitOf(Seq(1))).await;
    ensure!(matches!(commit, Answer::Commit(None)), "no commit", commit);
    other.append(vec![entry("text")]).await;
    expect_eq!((one.head().await.size, one.head().await.log), (Seq(3), 2));
    expect_eq!((numbers(&one.log().await), numbers(&other.log().await)), (vec![1, 2, 3], vec![1]));
}

/// Those with any records but transient ones.
pub async fn used_tenants_are_listed_by_id(backend: Arc<dyn Backend>) {
    let mut tenants = Vec::new();
    for _ in 0..5 {
        tenants.push(Tenant::fresh(&backend).await);
    }
    let [unused, passing, parcels, logged, depots] = &tenants[..] else { return };
    expect_eq!(unused.count(all(&PARCELS)).await, 0);
    passing.write(vec![scan(1)]).await;
    depots.write(vec![depot("a", 1)]).await;
    logged.append(vec![entry("text")]).await;
    parcels.write(vec![parcel(1, &[(DEPOT, "a".into())]), scan(1)]).await;
    let listed = backend.tenants().await.unwrap();
    ensure!(listed.is_sorted(), "tenants by id", listed);
    let mut expected: Vec<TenantId> = [parcels, logged, depots].map(|it| it.id.clone()).into();
    expected.sort_unstable();
    let is_own = |id: &&TenantId| tenants.iter().any(|tenant| tenant.id == **id);
    let own: Vec<_> = listed.iter().filter(is_own).cloned().collect();
    expect_eq!(own, expected);
}

/// Writes a transient record.
pub(super) fn scan(id: i64) -> Write {
    Write::Put { table: &SCANS, columns: vec![int(id), "gate".into()], body: Body::empty() }
}

pub(super) async fn pair(backend: &Arc<dyn Backend>) -> (Tenant, Tenant) {
    (Tenant::fresh(backend).await, Tenant::fresh(backend).await)
}
