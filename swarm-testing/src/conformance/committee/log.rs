//! The log entries of the committee.

use std::fmt::Debug;
use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::committee::{TestCommittee, creation, filed, first_save, member, next_save, open_day};
use crate::day;
use swarm_core::domain::{Logged, Seq, Timestamp};
use swarm_core::store::{Act, ActQuery, Result, Saved, Store, StoreErrorKind};

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
    let every = ActQuery { limit: 9, ..ActQuery::default() };
    let acts = tenant.store().operator_acts(&every).await.unwrap();
    expect_eq!(acts.len(), 3, "those of the two days, and that of the member");
}

/// Until another log begins. No facts are returned for new decisions either.
pub async fn committee_refuses_commits_once_its_log_went_back(tenants: Store) {
    let tenant = TestCommittee::fresh(tenants).await;
    let key = tenant.seat("ada").await;
    tenant.put_day(&first_save(&open_day(DATE, "aurora"))).await;
    let filing = tenant.judged(&key, day(DATE), "plain").await;
    let again = next_save(&tenant.day(day(DATE)).await.unwrap(), open_day(DATE, "basalt"));
    let store = tenant.store();
    store.mark_went_back(3, Seq(1));
    refused(store.committee_basis(&key.hash()).await);
    refused(store.file_committee(&filing).await);
    refused(store.save_committee_day(&again).await);
    refused(store.save_committee_member(&creation(&member("grace"))).await);
    expect_eq!((tenant.log_size().await, tenant.members().await.len()), (Seq(1), 1));
}

fn refused<T: Debug>(outcome: Result<T>) {
    let kind = outcome.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::WentBack)), "that the store went back", outcome);
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
