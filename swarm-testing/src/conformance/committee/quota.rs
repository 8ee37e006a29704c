//! The daily quota of submissions.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{CommitteeWorld, filed, first_save, next_save, open_day};
use crate::{count, day, race};
use swarm_core::proof::ApiKey;
use swarm_core::store::{CommitteeFiled, CommitteeFiling, CommitteeTenants};

const DATE: &str = "2026-11-21";

pub async fn submission_quota_is_enforced(tenants: Arc<dyn CommitteeTenants>) {
    let world = CommitteeWorld::fresh(tenants).await;
    let [ada, grace] = [world.seat("ada").await, world.seat("grace").await];
    world.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    world.put_day(&first_save(&open_day("2026-11-22", "aurora"))).await;
    expect_eq!(world.file(&within(&world, &ada, DATE, 0).await).await, CommitteeFiled::Full);
    world.filed(&grace, day(DATE), "another member").await;
    world.filed(&ada, day("2026-11-22"), "another day").await;
    let first = within(&world, &ada, DATE, 2).await;
    let take = filed(world.file(&first).await);
    filed(world.file(&within(&world, &ada, DATE, 2).await).await);
    expect_eq!(world.file(&within(&world, &ada, DATE, 2).await).await, CommitteeFiled::Full);
    expect_eq!(filed(world.file(&first).await), take, "an attempt that is sent again");
    expect_eq!(world.takes_on(day(DATE)).await.len(), 3);

    // Submissions also count after a change of the subject.
    let judged = world.day(day(DATE)).await.unwrap();
    world.put_day(&next_save(&judged, open_day(DATE, "borealis"))).await;
    expect_eq!(world.file(&within(&world, &ada, DATE, 2).await).await, CommitteeFiled::Full);
    filed(world.file(&within(&world, &ada, DATE, 3).await).await);
}

pub async fn concurrent_submissions_do_not_exceed_the_quota(tenants: Arc<dyn CommitteeTenants>) {
    let world = &CommitteeWorld::fresh(tenants).await;
    let ada = world.seat("ada").await;
    world.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let mut filings = Vec::new();
    for _ in 0..32 {
        filings.push(within(world, &ada, DATE, 7).await);
    }
    let file = |filing: CommitteeFiling| {
        let world = world.clone();
        async move { world.file(&filing).await }
    };
    let outcomes = race(filings.into_iter().map(file)).await;
    expect_eq!(count(&outcomes, &CommitteeFiled::Full), 25);
    expect_eq!(world.takes_on(day(DATE)).await.len(), 7);
}

/// A submission for this day with this quota.
async fn within(world: &CommitteeWorld, key: &ApiKey, date: &str, quota: u32) -> CommitteeFiling {
    world.judged(key, day(date), "mark").await.with_quota(quota)
}
