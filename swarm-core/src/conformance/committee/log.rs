//! The log, as the committee writes it.

use std::sync::Arc;

use crate::domain::{Logged, Seq};
use crate::store::{CommitteeTenants, Saved};
use crate::testing::committee::{CommitteeWorld, filed, first_save, next_save, open_day};
use crate::testing::day;

const DATE: &str = "2026-11-21";

pub async fn days_and_takes_leave_a_row_each(tenants: Arc<dyn CommitteeTenants>) {
    let room = CommitteeWorld::fresh(tenants).await;
    let key = room.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    room.put_day(&opened).await;
    let take = room.filed(&key, day(DATE), "plain").await;
    let on_file = room.day(day(DATE)).await.unwrap();
    let again = next_save(&on_file, open_day(DATE, "basalt"));
    room.put_day(&again).await;

    let rows = room.log(Seq(0), 10).await;
    let logged: Vec<_> = rows.iter().map(|row| row.logged.clone()).collect();
    let act = |text: &str| Logged::Act { text: text.to_owned(), minted: None };
    let taken = Logged::CommitteeTake(Arc::clone(&take));
    assert_eq!(logged, [act(opened.act.as_str()), taken, act(again.act.as_str())]);
    let numbers: Vec<_> = rows.iter().map(|row| row.seq.0).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(rows[1].at, take.received_at);
}

pub async fn what_the_committee_refuses_leaves_no_row(tenants: Arc<dyn CommitteeTenants>) {
    let room = CommitteeWorld::fresh(tenants).await;
    let key = room.seat("ada").await;
    let opened = first_save(&open_day(DATE, "aurora"));
    room.put_day(&opened).await;
    assert_eq!(room.save_day(&opened).await, Saved::Stale);
    let filing = room.judged(&key, day(DATE), "plain").await;
    let first = filed(room.file(&filing).await);
    assert_eq!(filed(room.file(&filing).await), first);
    assert_eq!(room.log_size().await, Seq(2));
}
