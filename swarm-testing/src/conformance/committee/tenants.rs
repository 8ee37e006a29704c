//! Committees of different tenants.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{CommitteeWorld, first_save, open_day};
use crate::{FIRST, day};
use swarm_core::domain::TenantId;
use swarm_core::store::{CommitteeSessionQuery, CommitteeTakesQuery, CommitteeTenants};

/// The names of the two tenants have a common prefix, and their records have the same names.
pub async fn committees_of_tenants_share_nothing(tenants: Arc<dyn CommitteeTenants>) {
    let world = CommitteeWorld::fresh(Arc::clone(&tenants)).await;
    let other = TenantId::parse(format!("{}-x", world.id)).unwrap();
    let other = CommitteeWorld::open(tenants, other);
    let date = day("2026-11-21");
    let key = world.seat("ada").await;
    world.put_day(&first_save(&open_day("2026-11-21", "aurora"))).await;
    let take = world.filed(&key, date, "mark").await;

    expect_eq!(other.members().await, []);
    let facts = other.basis(&key.hash()).await;
    expect_eq!((facts.member, facts.session), (None, None));
    expect_eq!((other.day(date).await, other.takes_on(date).await), (None, vec![]));
    let all = CommitteeSessionQuery { limit: 9, ..CommitteeSessionQuery::default() };
    expect_eq!(other.sessions(&all).await, []);
    let latest = CommitteeTakesQuery::Latest {
        member: &take.member_id,
        before: day("9999-12-31"),
        limit: 9,
    };
    expect_eq!(other.takes(&latest).await, []);

    let own = other.seat("ada").await;
    other.put_day(&first_save(&open_day("2026-11-21", "borealis"))).await;
    other.filed(&own, date, "mark").await;
    expect_eq!(other.day(date).await.unwrap().version, FIRST);
    expect_eq!(world.takes_on(date).await, [take]);
    expect_eq!(world.basis(&own.hash()).await.member, None);
}

pub async fn committee_opened_twice_is_the_same(tenants: Arc<dyn CommitteeTenants>) {
    let world = CommitteeWorld::fresh(Arc::clone(&tenants)).await;
    let again = CommitteeWorld::open(tenants, world.id.clone());
    world.put_day(&first_save(&open_day("2026-11-21", "aurora"))).await;
    let key = world.seat("ada").await;
    let take = again.filed(&key, day("2026-11-21"), "mark").await;
    expect_eq!(world.takes_on(take.date).await, [take]);
}
