//! The log entries of the committee.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{CommitteeWorld, filed, first_save, next_save, open_day};
use crate::day;
use swarm_core::domain::{Logged, Seq, Timestamp};
use swarm_core::store::{Act, CommitteeTenants, Saved};

const DATE: &str = "2026-11-21";

pub async fn days_and_takes_append_a_row_each(tenants: Arc<dyn CommitteeTenants>) {
    let world = CommitteeWorld::fresh(tenants).await;
    let key = world.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    world.put_day(&opened).await;
    let take = world.filed(&key, day(DATE), "plain").await;
    let on_file = world.day(day(DATE)).await.unwrap();
    let again = next_save(&on_file, open_day(DATE, "basalt"));
    world.put_day(&again).await;

    let rows = world.log(Seq(0), 10).await;
    let logged: Vec<_> = rows.iter().map(|row| row.logged.clone()).collect();
    let act = |act: &Act| Logged::Entry(act.entry(0, Timestamp::EPOCH));
    let taken = Logged::CommitteeTake(Arc::clone(&take));
    expect_eq!(logged, [act(&opened.act), taken, act(&again.act)]);
    let numbers: Vec<_> = rows.iter().map(|row| row.seq.0).collect();
    expect_eq!(numbers, [1, 2, 3]);
    expect_eq!(rows[1].at, take.received_at);
}

pub async fn refused_committee_write_appends_no_row(tenants: Arc<dyn CommitteeTenants>) {
    let world = CommitteeWorld::fresh(tenants).await;
    let key = world.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    world.put_day(&opened).await;
    expect_eq!(world.save_day(&opened).await, Saved::Stale);
    let filing = world.judged(&key, day(DATE), "plain").await;
    let first = filed(world.file(&filing).await);
    expect_eq!(filed(world.file(&filing).await), first);
    expect_eq!(world.log_size().await, Seq(2));
}
