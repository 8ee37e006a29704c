//! The log entries of the committee.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::committee::{TestCommittee, filed, first_save, next_save, open_day};
use crate::day;
use swarm_core::domain::{Logged, Seq, Timestamp};
use swarm_core::store::{Act, Saved, Store};

const DATE: &str = "2026-11-21";

pub async fn days_and_takes_append_a_row_each(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    tenant.put_day(&opened).await;
    let take = tenant.filed(&key, day(DATE), "plain").await;
    let on_file = tenant.day(day(DATE)).await.unwrap();
    let again = next_save(&on_file, open_day(DATE, "basalt"));
    tenant.put_day(&again).await;

    let rows = tenant.log(Seq(0), 10).await;
    let logged: Vec<_> = rows.iter().map(|row| row.logged.clone()).collect();
    let act = |act: &Act| Logged::Entry(act.entry(0, Timestamp::EPOCH));
    let taken = Logged::CommitteeTake(Arc::clone(&take));
    expect_eq!(logged, [act(&opened.act), taken, act(&again.act)]);
    let numbers: Vec<_> = rows.iter().map(|row| row.seq.0).collect();
    expect_eq!(numbers, [1, 2, 3]);
    expect_eq!(rows[1].at, take.received_at);
}

pub async fn refused_committee_write_appends_no_row(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    tenant.put_day(&opened).await;
    expect_eq!(tenant.save_day(&opened).await, Saved::Stale);
    let filing = tenant.judged(&key, day(DATE), "plain").await;
    let first = filed(tenant.file(&filing).await);
    expect_eq!(filed(tenant.file(&filing).await), first);
    expect_eq!(tenant.log_size().await, Seq(2));
}
