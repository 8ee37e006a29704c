//! A program that follows the log, and keeps its cursor with what it made of the entries.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test panics")]

use swarm_core::domain::{Actor, Attribution, MemberState, SessionState};
use swarm_core::service::{FollowPage, FollowedRecord};
use swarm_core::{Cursor, Follow, Tenant};
use swarm_store_memory::MemoryStore;
use swarm_testing::{Author, TestTenant};

async fn page(desk: &Tenant, cursor: Cursor, limit: usize) -> FollowPage {
    match desk.follow_log(cursor, limit).await.unwrap() {
        Follow::Page(page) => page,
        Follow::OtherLog { log } => panic!("log {log}"),
    }
}

#[tokio::test]
async fn each_entry_comes_once_with_its_record() {
    let tenant = TestTenant::fresh(MemoryStore::new()).await;
    let (desk, ada) = (tenant.service(), tenant.author("ada").await);
    let session = tenant.convened("aurora").await;
    let take = desk.submit(&ada.token, &ada.submission(&session, "one")).await.unwrap();
    let by = &Attribution::from(Actor::OPERATOR);
    desk.advance(session.id, SessionState::WindowClosed, by).await.unwrap();
    desk.deactivate(&ada.id, &by.by).await.unwrap();

    let all = page(&desk, Cursor::START, 100).await;
    let mut one_by_one = (Vec::new(), Cursor::START);
    loop {
        let next = page(&desk, one_by_one.1, 1).await;
        if next.entries.is_empty() {
            break;
        }
        one_by_one.0.extend(next.entries);
        one_by_one.1 = next.next.to_string().parse().unwrap();
    }
    assert_eq!((&one_by_one.0, one_by_one.1), (&all.entries, all.next));
    let seqs: Vec<_> = all.entries.iter().map(|entry| entry.followed.line.seq.0).collect();
    assert_eq!(seqs, (1..=all.next.seq.0).collect::<Vec<_>>());

    let records = || all.entries.iter().map(|entry| &entry.record);
    let takes = records().filter_map(|it| match it {
        FollowedRecord::Take(take) => take.open().map(|take| take.id),
        _ => None,
    });
    assert_eq!(takes.collect::<Vec<_>>(), [take.id]);
    let states: Vec<_> = records()
        .filter_map(|it| match it {
            FollowedRecord::Session(session) => Some(session.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [SessionState::WindowClosed; 2], "the record as it is now");
    let last = all.entries.last().unwrap();
    assert!(
        matches!(&last.record, FollowedRecord::Member(it) if it.state == MemberState::Inactive)
    );
}

#[tokio::test]
async fn cursor_of_another_log_is_told_so() {
    let store = MemoryStore::new();
    let tenant = TestTenant::fresh(store.clone()).await;
    tenant.convened("aurora").await;
    let backup = store.copy();
    let desk = tenant.service();
    desk.enrol(&super::embedding::enrolment(&Author::named("ada")), &Actor::OPERATOR)
        .await
        .unwrap();
    let cursor = page(&desk, Cursor::START, 100).await.next;
    store.go_back_to(&backup);
    // It commits nothing until it is accepted.
    assert!(page(&desk, cursor, 100).await.entries.is_empty());
    desk.accept_store(&Actor::OPERATOR).await.unwrap();
    assert_eq!(desk.follow_log(cursor, 100).await.unwrap(), Follow::OtherLog { log: 2 });
    let again = page(&desk, Cursor { log: 2, ..Cursor::START }, 100).await;
    assert_eq!(again.next.to_string(), format!("2/{}", again.entries.len()));
}

#[test]
fn cursor_text_is_strict() {
    assert_eq!("7/42".parse::<Cursor>().unwrap().to_string(), "7/42");
    for text in ["", "/", "1", "1/", "+1/2", "01/2", "1/2/3", "1/ 2", "1/-2"] {
        assert!(text.parse::<Cursor>().is_err(), "{text}");
    }
}
