//! Durability of a committee after a store is reopened.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{CommitteeWorld, brief, filed, first_save, id, open_day};
use crate::day;
use swarm_core::store::{
    CommitteeDayChange, CommitteeSessionQuery, CommitteeTakesQuery, CommitteeTenants,
};

/// Covers members and keys, days and briefs, takes and attempts.
pub async fn committee_survives_reopening(
    tenants: Arc<dyn CommitteeTenants>,
    reopen: impl AsyncFnOnce() -> Arc<dyn CommitteeTenants>,
) {
    let world = CommitteeWorld::fresh(tenants).await;
    let key = world.seat("ada").await;
    let date = day("2026-11-21");
    let briefs = Some(vec![brief("ada", "mark")]);
    world
        .put_day(&CommitteeDayChange { briefs, ..first_save(&open_day("2026-11-21", "aurora")) })
        .await;
    let filing = world.judged(&key, date, "mark").await;
    let take = filed(world.file(&filing).await);
    let (tenant, before) = (world.id.clone(), shown(&world, &key.hash()).await);
    drop(world);

    let world = CommitteeWorld::open(reopen().await, tenant);
    for (before, after) in before.into_iter().zip(shown(&world, &key.hash()).await) {
        expect_eq!(after, before, "once the store was opened again");
    }
    expect_eq!(filed(world.file(&filing).await), take, "the same attempt, sent again");
    expect_eq!(world.takes_on(date).await, [take]);
}

/// The results of all reads, as text.
async fn shown(world: &CommitteeWorld, key: &swarm_core::domain::ApiKeyHash) -> Vec<String> {
    let date = day("2026-11-21");
    let (member, before) = (&id("ada"), day("2026-11-22"));
    let latest = CommitteeTakesQuery::Latest { member, before, limit: 9 };
    let all = CommitteeSessionQuery { limit: 9, ..CommitteeSessionQuery::default() };
    let facts = world.basis(key).await;
    vec![
        format!("{:?}", world.members().await),
        format!("{:?} {:?}", facts.member, facts.session),
        format!("{:?} {:?}", world.day(date).await, world.sessions(&all).await),
        format!("{:?}", world.briefs(date, None).await),
        format!("{:?}", world.briefs(date, Some(member)).await),
        format!("{:?} {:?}", world.takes_on(date).await, world.takes(&latest).await),
    ]
}
