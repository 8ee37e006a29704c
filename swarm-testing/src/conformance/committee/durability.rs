//! Durability of a committee after a store is reopened.

use crate::assertions::expect_eq;
use crate::committee::{TestCommittee, brief, filed, first_save, id, open_day};
use crate::day;
use swarm_core::store::{CommitteeDayChange, CommitteeSessionQuery, CommitteeTakesQuery, Store};

/// Covers members and keys, days and briefs, takes and attempts.
pub async fn committee_survives_reopening(tenants: Store, reopen: impl AsyncFnOnce() -> Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let date = day("2026-11-21");
    let briefs = Some(vec![brief("ada", "mark")]);
    tenant
        .put_day(&CommitteeDayChange { briefs, ..first_save(&open_day("2026-11-21", "aurora")) })
        .await;
    let filing = tenant.judged(&key, date, "mark").await;
    let take = filed(tenant.file(&filing).await);
    let (id, before) = (tenant.id.clone(), shown(&tenant, &key.hash()).await);
    drop(tenant);

    let tenant = TestCommittee::open(reopen().await, id);
    for (before, after) in before.into_iter().zip(shown(&tenant, &key.hash()).await) {
        expect_eq!(after, before, "once the store was opened again");
    }
    expect_eq!(filed(tenant.file(&filing).await), take, "the same attempt, sent again");
    expect_eq!(tenant.takes_on(date).await, [take]);
}

/// The results of all reads, as text.
async fn shown(tenant: &TestCommittee, key: &swarm_core::domain::ApiKeyHash) -> Vec<String> {
    let date = day("2026-11-21");
    let (member, before) = (&id("ada"), day("2026-11-22"));
    let latest = CommitteeTakesQuery::Latest { member, before, limit: 9 };
    let all = CommitteeSessionQuery { limit: 9, ..CommitteeSessionQuery::default() };
    let facts = tenant.basis(key).await;
    vec![
        format!("{:?}", tenant.members().await),
        format!("{:?} {:?}", facts.member, facts.session),
        format!("{:?} {:?}", tenant.day(date).await, tenant.sessions(&all).await),
        format!("{:?}", tenant.briefs(date, None).await),
        format!("{:?}", tenant.briefs(date, Some(member)).await),
        format!("{:?} {:?}", tenant.takes_on(date).await, tenant.takes(&latest).await),
    ]
}
