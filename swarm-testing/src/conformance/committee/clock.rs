//! Cases of the committee for a clock that runs back (API.md, 11.3).

use std::fmt::Debug;
use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::committee::{CommitteeWorld, creation, first_save, member, next_save, open_day};
use crate::{day, moment};
use swarm_core::domain::{Seq, Timestamp};
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, CommitteeTenants, Result, StoreErrorKind};

const DATE: &str = "2026-11-21";

/// The clock may be up to an hour behind them.
pub async fn committee_rows_never_decrease_in_time(
    tenants: Arc<dyn CommitteeTenants>,
    set: impl Fn(Timestamp),
) {
    let noon = moment("2026-11-21T12:00:00Z");
    set(noon);
    let world = CommitteeWorld::fresh(tenants).await;
    let key = world.seat("ada").await;
    world.put_day(&first_save(&open_day(DATE, "aurora"))).await;

    set(noon.plus_millis(-CLOCK_TOLERANCE_MILLIS));
    expect_eq!(world.now().await, noon);
    expect_eq!(world.filed(&key, day(DATE), "plain").await.received_at, noon);
    let on_file = world.day(day(DATE)).await.unwrap();
    world.put_day(&next_save(&on_file, open_day(DATE, "basalt"))).await;
    let rows = world.log(Seq(0), 9).await;
    expect_eq!(rows.iter().map(|row| row.at).collect::<Vec<_>>(), [noon; 3]);

    // The last row is a submission: later commits do not go back behind it either.
    set(noon.plus_millis(1));
    world.filed(&key, day(DATE), "later").await;
    set(noon);
    expect_eq!(world.now().await, noon.plus_millis(1));
}

/// The limit is an hour.
pub async fn committee_refuses_commits_while_the_clock_is_far_behind(
    tenants: Arc<dyn CommitteeTenants>,
    set: impl Fn(Timestamp),
) {
    let noon = moment("2026-11-21T12:00:00Z");
    set(noon);
    let world = CommitteeWorld::fresh(tenants).await;
    let key = world.seat("ada").await;
    world.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let before = world.judged(&key, day(DATE), "before").await;
    let filed = world.store().file_committee(&before).await.unwrap();
    let filing = world.judged(&key, day(DATE), "plain").await;
    let again = next_save(&world.day(day(DATE)).await.unwrap(), open_day(DATE, "basalt"));

    set(noon.plus_millis(-CLOCK_TOLERANCE_MILLIS - 1));
    refused(world.store().file_committee(&filing).await);
    refused(world.store().save_committee_day(&again).await);
    refused(world.store().save_committee_member(&creation(&member("grace"))).await);
    let resent = world.store().file_committee(&before).await.unwrap();
    expect_eq!(resent, filed, "an attempt that is sent again");
    expect_eq!((world.log_size().await, world.members().await.len()), (Seq(2), 1));
}

fn refused<T: Debug>(outcome: Result<T>) {
    let kind = outcome.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::ClockBehind)), "that the clock is behind", outcome);
}
