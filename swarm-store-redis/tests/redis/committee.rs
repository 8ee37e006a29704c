//! Calls of the committee while connections and memory fail.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::sync::Arc;

use redis::Commands as _;
use swarm_core::domain::Day;
use swarm_core::domain::committee::{CommitteeDay, CommitteeMember, CommitteeStatus, Synthesis};
use swarm_core::store::{
    CommitteeDayChange, CommitteeFiled, CommitteeMemberChange, Records, Saved,
};
use swarm_redis_testing::{Proxy, Server};
use swarm_store_redis::RedisStore;
use tokio::time::timeout;

use crate::world::committee::{brief, convened, judged, marks, open, opening, seat, today, walk};
use crate::world::{BOUND, RECORDS, code, recovered};

/// With calls and answers lost in transit: of the commit, and of the announcement that is sent with it.
#[tokio::test(flavor = "multi_thread")]
async fn submission_takes_effect_at_most_once() {
    const SUBMISSIONS: usize = 50;
    let (_server, direct, lossy, proxy) = behind_a_proxy().await;
    convened(&direct, &["ada"]).await;
    let warm = judged(&direct, "ada", "warm").await;
    assert!(matches!(lossy.file_committee(&warm).await.unwrap(), CommitteeFiled::Filed(_)));

    for number in 0..SUBMISSIONS {
        let mark = format!("mark {number}");
        let filing = judged(&direct, "ada", &mark).await;
        // Commit and announcement are each retried once: two losses may make the call fail, four do.
        const LOSSES: [(usize, usize); 8] =
            [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (1, 1), (4, 0), (0, 4)];
        let (calls, answers) = LOSSES[number % LOSSES.len()];
        proxy.drop_next(calls, answers);
        let outcome = timeout(BOUND, lossy.file_committee(&filing)).await.unwrap();
        let filed = marks(&direct).await.iter().filter(|it| **it == mark).count();
        match outcome {
            Ok(CommitteeFiled::Filed(_)) => assert_eq!((filed, calls + answers < 4), (1, true)),
            Err(_) if calls + answers < 2 => panic!("failed after one loss"),
            Err(_) if calls == 0 => assert_eq!(filed, 1, "each call has arrived"),
            Err(_) if answers == 0 => assert_eq!(filed, 0, "no call has arrived"),
            Err(_) => assert!(filed <= 1),
            Ok(other) => panic!("{other:?} after losing {calls} calls and {answers} answers"),
        }
        // After an error the same filing may be sent again.
        recovered(&lossy).await;
        let again = lossy.file_committee(&filing).await.unwrap();
        assert!(matches!(again, CommitteeFiled::Filed(_)));
    }
    assert_eq!(marks(&direct).await.len(), 1 + SUBMISSIONS);
}

/// Other commits, too, take effect once and return the right outcome when the first answer is lost.
#[tokio::test(flavor = "multi_thread")]
async fn commits_take_effect_once_when_their_answer_is_lost() {
    let (_server, direct, lossy, proxy) = behind_a_proxy().await;
    walk(&lossy, || ()).await;

    proxy.drop_next(0, 1);
    assert_eq!(lossy.save_committee_member(&seat("grace")).await.unwrap(), Saved::Saved);
    let grace = direct.committee_members().await.unwrap().pop().unwrap();
    let member = CommitteeMember {
        status: CommitteeStatus::Inactive,
        ..CommitteeMember::clone(&grace.record)
    };
    let change =
        CommitteeMemberChange { member, expected: Some(grace.version), operator_act: None };
    proxy.drop_next(0, 1);
    assert_eq!(lossy.save_committee_member(&change).await.unwrap(), Saved::Saved);
    let on_file = direct.committee_members().await.unwrap().pop().unwrap();
    assert_eq!((on_file.version, &*on_file.record), (grace.version.next(), &change.member));

    let judged = direct.committee_day(today()).await.unwrap().unwrap();
    let synthesis = Some(Synthesis::parse("text").unwrap());
    let day = CommitteeDay { synthesis, ..CommitteeDay::clone(&judged.record) };
    let briefs = Some(vec![brief("grace")]);
    let act = opening("ada").act;
    let change = CommitteeDayChange { day, expected: Some(judged.version), briefs, act };
    proxy.drop_next(0, 1);
    assert_eq!(lossy.save_committee_day(&change).await.unwrap(), Saved::Saved);
    let on_file = direct.committee_day(today()).await.unwrap().unwrap();
    assert_eq!((on_file.version, &*on_file.record), (judged.version.next(), &change.day));
    let briefs = direct.committee_briefs(today(), None).await.unwrap();
    assert_eq!(briefs, [Arc::new(brief("grace"))]);
}

/// They are not read any more, and those of a year would be larger than all else.
#[tokio::test]
async fn briefs_of_earlier_days_are_deleted() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    for date in ["2026-11-20", "2026-11-21"] {
        let date = Day::parse(date).unwrap();
        let CommitteeDayChange { day, expected, briefs, act } = opening("ada");
        let day = CommitteeDay { date, ..day };
        let change = CommitteeDayChange { day, expected, briefs, act };
        assert_eq!(store.save_committee_day(&change).await.unwrap(), Saved::Saved);
    }
    assert_eq!(store.committee_briefs(today(), None).await.unwrap().len(), 1);
    let mut redis = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let fields: Vec<Vec<u8>> = redis.hkeys(RECORDS).unwrap();
    let briefs = fields.iter().filter(|field| field.starts_with(&code("committee_briefs")));
    // The record, and its parts.
    assert_eq!(briefs.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_write_nothing_when_the_server_is_out_of_memory() {
    let server = Server::start(&[]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    convened(&store, &["ada"]).await;
    let filing = judged(&store, "ada", "mark").await;
    let (held, day) = (server.cli(&["dbsize"]), store.committee_day(today()).await.unwrap());
    let expected = day.as_ref().map(|day| day.version);
    let change = CommitteeDayChange { expected, briefs: Some(vec![]), ..opening("ada") };

    server.cli(&["config", "set", "maxmemory", "1"]);
    assert!(store.file_committee(&filing).await.is_err());
    assert!(store.save_committee_member(&seat("grace")).await.is_err());
    assert!(store.save_committee_day(&change).await.is_err());
    assert_eq!(marks(&store).await, [""; 0]);
    assert_eq!(server.cli(&["dbsize"]), held);

    server.cli(&["config", "set", "maxmemory", "0"]);
    assert_eq!(store.committee_members().await.unwrap().len(), 1);
    assert_eq!(store.committee_day(today()).await.unwrap(), day);
    assert_eq!(store.committee_briefs(today(), None).await.unwrap().len(), 1);
    assert!(matches!(store.file_committee(&filing).await.unwrap(), CommitteeFiled::Filed(_)));
    assert_eq!(marks(&store).await, ["mark"]);
}

/// A server, its committee, and the same through a proxy.
async fn behind_a_proxy() -> (Server, Records, Records, Proxy) {
    let server = Server::start(&[]);
    let proxy = Proxy::in_front_of(server.port).await;
    let direct = open(&RedisStore::connect(&server.url()).await.unwrap());
    let lossy = open(&RedisStore::connect(&proxy.url("redis")).await.unwrap());
    (server, direct, lossy, proxy)
}
