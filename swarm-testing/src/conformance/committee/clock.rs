//! Cases of the committee for a clock that runs back (API.md, 11.3).

use std::fmt::Debug;

use crate::assertions::{ensure, expect_eq};
use crate::committee::{TestCommittee, creation, filed, first_save, member, next_save, open_day};
use crate::{day, moment};
use swarm_core::domain::{Seq, Timestamp};
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, CommitteeFiled, Result, Store, StoreErrorKind};

const DATE: &str = "2026-11-21";

/// The clock may be up to an hour behind them.
pub async fn committee_rows_never_decrease_in_time(tenants: Store, set: impl Fn(Timestamp)) {
    let noon = moment("2026-11-21T12:00:00Z");
    set(noon);
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;

    set(noon.plus_millis(-CLOCK_TOLERANCE_MILLIS));
    expect_eq!(tenant.now().await, noon);
    expect_eq!(tenant.filed(&key, day(DATE), "plain").await.received_at, noon);
    let on_file = tenant.day(day(DATE)).await.unwrap();
    tenant.put_day(&next_save(&on_file, open_day(DATE, "basalt"))).await;
    let rows = tenant.log(Seq(0), 9).await;
    expect_eq!(rows.iter().map(|row| row.at).collect::<Vec<_>>(), [noon; 3]);

    // The last row is a submission: later commits do not go back behind it either.
    set(noon.plus_millis(1));
    tenant.filed(&key, day(DATE), "later").await;
    set(noon);
    expect_eq!(tenant.now().await, noon.plus_millis(1));
}

/// The limit is an hour.
pub async fn committee_refuses_commits_while_the_clock_is_far_behind(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let noon = moment("2026-11-21T12:00:00Z");
    set(noon);
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let before = tenant.judged(&key, day(DATE), "before").await;
    let filed = tenant.store().file_committee(&before).await.unwrap();
    let filing = tenant.judged(&key, day(DATE), "plain").await;
    let again = next_save(&tenant.day(day(DATE)).await.unwrap(), open_day(DATE, "basalt"));

    set(noon.plus_millis(-CLOCK_TOLERANCE_MILLIS - 1));
    refused(tenant.store().file_committee(&filing).await);
    refused(tenant.store().save_committee_day(&again).await);
    refused(tenant.store().save_committee_member(&creation(&member("grace"))).await);
    let resent = tenant.store().file_committee(&before).await.unwrap();
    expect_eq!(resent, filed, "an attempt that is sent again");
    expect_eq!((tenant.log_size().await, tenant.members().await.len()), (Seq(2), 1));
}

pub async fn committee_deadline_is_exact_to_the_millisecond(
    tenants: Store,
    set: impl Fn(Timestamp),
) {
    let noon = moment("2026-11-21T12:00:00Z");
    set(noon);
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let mut open = open_day(DATE, "aurora");
    open.generation.iter_mut().for_each(|generation| generation.deadline = noon);
    tenant.put_day(&first_save(&open)).await;
    let [in_time, late] =
        [tenant.judged(&key, day(DATE), "1").await, tenant.judged(&key, day(DATE), "2").await];
    expect_eq!(filed(tenant.file(&in_time).await).received_at, noon);
    set(noon.plus_millis(1));
    expect_eq!(tenant.file(&late).await, CommitteeFiled::Late);
    let on_file = tenant.day(day(DATE)).await.unwrap();
    tenant.put_day(&next_save(&on_file, open)).await;
    expect_eq!(tenant.file(&late).await, CommitteeFiled::Stale, "compared before the deadline");
}

fn refused<T: Debug>(outcome: Result<T>) {
    let kind = outcome.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::ClockBehind)), "that the clock is behind", outcome);
}
