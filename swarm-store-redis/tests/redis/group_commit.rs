//! Group commit: each take of a batch gets the outcome that it would get alone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

use std::iter::zip;
use std::sync::Arc;
use std::time::Duration;

use redis::Commands as _;
use swarm_core::domain::{Body, MemoUrl, TakeDraft};
use swarm_core::rules::Filing;
use swarm_core::store::{Filed, Records, Result, StoreErrorKind};
use swarm_core::{Session, TakeId};
use swarm_redis_testing::{ProgramClock, Server};
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, act, takes_of};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;

use crate::world::{
    BOUND, RECORDS, draft, field_of_number, joined, judged, nonces, open, recovered,
};

/// A tenant whose server can be paused, so that takes wait.
struct Desk {
    redis: Server,
    store: Records,
    session: Arc<Session>,
    authors: Vec<Author>,
}

type Call = JoinHandle<Result<Filed>>;

/// The first take is sent at once, then full batches of 32, then the rest.
#[tokio::test]
async fn waiting_takes_are_filed_in_batches() {
    let desk = Desk::open(70).await;
    let filings = desk.filings("nonce").await;
    let before = desk.redis.scripts();
    let mut filed = desk.filed(desk.held(filings).await).await;
    let calls = desk.redis.scripts() - before;
    assert!((3..=6).contains(&calls), "{calls} calls");
    filed.sort_unstable();
    assert_eq!(filed, (1..=70).map(TakeId).collect::<Vec<_>>());
    assert_eq!(nonces(&desk.store, &desk.session).await, ["nonce"; 70]);
}

#[tokio::test]
async fn first_of_two_waiting_takes_of_a_member_wins() {
    let desk = Desk::open(3).await;
    let mut filings = Vec::new();
    for (author, nonce) in [(0, "1"), (1, "2"), (2, "3"), (1, "4")] {
        filings.push(judged(&desk.store, &desk.authors[author], &desk.session, nonce).await);
    }
    let calls = desk.held(filings).await;
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(matches!(call.await.unwrap().unwrap(), Filed::Filed(..)));
    }
    assert_eq!(outcomes, [true, true, true, false]);
    assert_eq!(nonces(&desk.store, &desk.session).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn batch_holds_takes_of_a_member_in_many_sessions() {
    let desk = Desk::open(1).await;
    let mut filings = Vec::new();
    for subject in 0..30 {
        let session = desk.store.convene(&draft(&subject.to_string())).await.unwrap();
        let nonce = subject.to_string();
        filings.push(judged(&desk.store, &desk.authors[0], &session, &nonce).await);
    }
    let sessions: Vec<_> = filings.iter().map(|filing| filing.session().0).collect();
    // The same nonce in two sessions: one of the takes spends it.
    let session = desk.store.convene(&draft("last")).await.unwrap();
    filings.push(judged(&desk.store, &desk.authors[0], &session, "29").await);
    let before = desk.redis.scripts();
    let mut calls = desk.held(filings).await;
    let spent = calls.pop().unwrap().await.unwrap().unwrap();
    assert!(matches!(spent, Filed::NonceUsed), "{spent:?}");
    let filed = desk.filed(calls).await;
    let calls = desk.redis.scripts() - before;
    assert!(calls <= 5, "{calls} calls");
    for (session, id) in zip(sessions, filed) {
        let on_file = takes_of(&desk.store, session).await.unwrap();
        assert_eq!(on_file.iter().map(|take| take.id).collect::<Vec<_>>(), [id]);
    }
}

#[tokio::test]
async fn each_take_of_a_batch_gets_its_own_outcome() {
    let desk = Desk::open(12).await;
    let other = desk.store.convene(&draft("other")).await.unwrap();
    let filings = desk.filings_in(&[&desk.session, &other], "nonce").await;
    // The second session is not the newest of its day any more, one nonce is spent, one revision is taken.
    desk.store.convene(&draft("other")).await.unwrap();
    let third = desk.store.convene(&draft("third")).await.unwrap();
    for (author, session, nonce) in [(6, &third, "nonce"), (8, &desk.session, "earlier")] {
        let earlier = judged(&desk.store, &desk.authors[author], session, nonce).await;
        assert!(matches!(desk.store.file(&earlier).await.unwrap(), Filed::Filed(..)));
    }
    let calls = desk.held(filings).await;
    for (place, call) in calls.into_iter().enumerate() {
        match call.await.unwrap().unwrap() {
            Filed::Filed(take, _) => {
                let on_file = desk.store.take(take.id).await.unwrap().unwrap();
                assert_eq!(*on_file.take.member_id(), desk.authors[place].id);
                assert!([0, 2, 4, 10].contains(&place), "{place}");
            }
            Filed::Stale => assert_eq!(place % 2, 1),
            Filed::NonceUsed => assert_eq!(place, 6),
            Filed::RevisionTaken => assert_eq!(place, 8),
            Filed::Late => panic!("{place}"),
        }
    }
    assert_eq!(nonces(&desk.store, &desk.session).await.len(), 5);
    assert!(nonces(&desk.store, &other).await.is_empty());
}

/// They were judged by the facts of the log before.
#[tokio::test]
async fn waiting_takes_are_not_filed_in_a_log_that_has_begun_since() {
    let desk = Desk::open(12).await;
    desk.filed(desk.held(desk.filings("first").await).await).await;
    let filings = desk.filings("second").await;
    let elsewhere = open(&RedisStore::connect(&desk.redis.url()).await.unwrap());
    desk.redis.cli(&["flushall"]);
    elsewhere.accept_store(&act("accepted")).await.unwrap();
    let session = elsewhere.convene(&draft("subject")).await.unwrap();
    assert_eq!(session.id, desk.session.id);
    for author in &desk.authors {
        joined(&elsewhere, author.id.as_str()).await;
    }
    for call in desk.held(filings).await {
        assert_eq!(call.await.unwrap().unwrap_err().kind(), StoreErrorKind::Contended);
    }
    assert!(nonces(&desk.store, &desk.session).await.is_empty());
    desk.filed(desk.held(desk.filings("third").await).await).await;
}

/// For example because its connection is throttled, or its client does not read.
#[tokio::test]
async fn batch_does_not_depend_on_its_first_caller_being_polled() {
    let desk = Desk::open(3).await;
    let filings = desk.filings("nonce").await;
    let mut first = Box::pin(desk.store.file(&filings[0]));
    tokio::select! {
        biased;
        filed = &mut first => panic!("{filed:?}"),
        () = yield_now() => {}
    }
    for filing in &filings[1..] {
        let filed = timeout(Duration::from_secs(1), desk.store.file(filing)).await.unwrap();
        assert!(matches!(filed.unwrap(), Filed::Filed(..)));
    }
    assert!(matches!(first.await.unwrap(), Filed::Filed(..)));
}

#[tokio::test]
async fn unwritable_take_does_not_fail_the_batch() {
    let desk = Desk::open(8).await;
    let odd = desk.store.convene(&draft("odd")).await.unwrap();
    let mut filings = desk.filings("nonce").await;
    filings[4] = judged(&desk.store, &desk.authors[4], &odd, "nonce").await;
    let mut redis = redis::Client::open(desk.redis.url()).unwrap().get_connection().unwrap();
    let odd = field_of_number("sessions", u8::try_from(odd.id.0).unwrap());
    assert_eq!(redis.hset(RECORDS, odd, "no record"), Ok(0));
    let mut calls = desk.held(filings).await;
    let error = calls.remove(4).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    let mut filed = desk.filed(calls).await;
    filed.sort_unstable();
    assert_eq!(filed, (1..=7).map(TakeId).collect::<Vec<_>>());
    assert_eq!(nonces(&desk.store, &desk.session).await.len(), 7);
}

#[tokio::test]
async fn cancelled_callers_do_not_fail_the_batch() {
    for leaving in [vec![0], vec![1], vec![32], vec![0, 1, 2, 33], vec![0, 3, 32, 33, 39]] {
        let desk = Desk::open(40).await;
        let filings = desk.filings("nonce").await;
        let calls = desk.hold(filings).await;
        let mut staying = Vec::new();
        for (number, call) in calls.into_iter().enumerate() {
            if leaving.contains(&number) { call.abort() } else { staying.push(call) }
        }
        desk.release();
        let mut filed = desk.filed(staying).await;
        filed.sort_unstable();
        filed.dedup();
        assert_eq!(filed.len(), 40 - leaving.len(), "{leaving:?}");
        // Takes of cancelled callers may be filed.
        let on_file = nonces(&desk.store, &desk.session).await.len();
        assert!((filed.len()..=40).contains(&on_file), "{leaving:?}: {on_file}");
        let again = judged(&desk.store, &desk.authors[0], &desk.session, "again").await;
        assert!(matches!(desk.store.file(&again).await.unwrap(), Filed::Filed(..)), "{leaving:?}");
    }
}

#[tokio::test]
async fn takes_of_a_failed_batch_are_retried_alone() {
    let desk = Desk::open(8).await;
    let filings = desk.filings("nonce").await;
    let calls = desk.hold(filings).await;
    desk.redis.cli(&["client", "kill", "type", "normal"]);
    desk.release();
    let mut filed = desk.filed(calls).await;
    filed.sort_unstable();
    filed.dedup();
    assert_eq!(filed.len(), 8);
    assert_eq!(nonces(&desk.store, &desk.session).await.len(), 8);
}

#[tokio::test]
async fn batch_appends_once_to_the_log() {
    let desk = Desk::open(30).await;
    let other = desk.store.convene(&draft("other")).await.unwrap();
    let filings = desk.filings_in(&[&desk.session, &other], "nonce").await;
    let before = ["evalsha", "rpush"].map(|command| desk.redis.calls(command));
    desk.filed(desk.held(filings).await).await;
    let [calls, pushes] = ["evalsha", "rpush"].map(|command| desk.redis.calls(command));
    let (calls, pushes) = (calls - before[0], pushes - before[1]);
    assert!(pushes > 0 && pushes <= calls, "{pushes} in {calls} calls");
    assert_eq!(nonces(&desk.store, &other).await.len(), 15);
}

/// Redis serves no other client while it runs a batch.
#[tokio::test]
async fn batches_are_limited_in_bytes() {
    let desk = Desk::open(12).await;
    let mut filings = Vec::new();
    for author in &desk.authors {
        let long = TakeDraft {
            body: Body::parse("long ".repeat(2_000)).unwrap(),
            memo_url: MemoUrl::parse("https://example.com/".to_owned() + &"m".repeat(1_900))
                .unwrap(),
            ..author.draft(&desk.session, "nonce")
        };
        let take = author.sign(long);
        let basis = author.basis(&desk.store, &take).await.unwrap();
        filings.push(swarm_testing::judged(&basis, &take));
    }
    let before = desk.redis.scripts();
    desk.filed(desk.held(filings).await).await;
    let calls = desk.redis.scripts() - before;
    // Six of them are 64 KiB.
    assert!((3..=4).contains(&calls), "{calls} calls");
}

#[tokio::test]
async fn each_take_gets_the_error_of_a_refused_batch() {
    const HOUR: i64 = 3_600_000;
    let clock = ProgramClock::at(100 * HOUR);
    let desk = Desk::open_at(&clock, 8).await;
    type Refusal<'a> = (StoreErrorKind, &'a dyn Fn(), &'a dyn Fn());
    let refused: [Refusal<'_>; 3] = [
        (StoreErrorKind::ClockBehind, &|| clock.set(98 * HOUR), &|| clock.set(100 * HOUR)),
        (StoreErrorKind::Unavailable, &|| desk.allow_memory("1"), &|| desk.allow_memory("0")),
        (StoreErrorKind::Unavailable, &|| desk.follow("127.0.0.1", "1"), &|| {
            desk.follow("no", "one");
        }),
    ];
    for (kind, begin, end) in refused {
        let calls = desk.hold(desk.filings("nonce").await).await;
        begin();
        desk.release();
        for call in calls {
            let outcome = timeout(BOUND, call).await.unwrap().unwrap();
            assert_eq!(outcome.unwrap_err().kind(), kind);
        }
        end();
        recovered(&desk.store).await;
        assert!(nonces(&desk.store, &desk.session).await.is_empty());
    }
    desk.filed(desk.held(desk.filings("nonce").await).await).await;
}

impl Desk {
    async fn open(authors: usize) -> Self {
        Self::on(Server::start(&["--appendonly", "no"]), authors).await
    }

    /// With a server that uses this clock.
    async fn open_at(clock: &ProgramClock, authors: usize) -> Self {
        Self::on(Server::start_in(&clock.environment(), &["--appendonly", "no"]), authors).await
    }

    async fn on(redis: Server, authors: usize) -> Self {
        let store = open(&RedisStore::connect(&redis.url()).await.unwrap());
        let session = store.convene(&draft("subject")).await.unwrap();
        let mut joining = Vec::new();
        for number in 0..authors {
            joining.push(joined(&store, &format!("member-{number}")).await);
        }
        Self { redis, store, session, authors: joining }
    }

    /// A take by each author.
    async fn filings(&self, nonce: &str) -> Vec<Filing> {
        self.filings_in(&[&self.session], nonce).await
    }

    /// A take by each author, alternating between these sessions.
    async fn filings_in(&self, sessions: &[&Session], nonce: &str) -> Vec<Filing> {
        let mut filings = Vec::new();
        for (author, session) in zip(&self.authors, sessions.iter().cycle()) {
            filings.push(judged(&self.store, author, session, nonce).await);
        }
        filings
    }

    /// Pauses the server, and files these takes in order; none is sent before [`release`](Self::release).
    async fn hold(&self, filings: Vec<Filing>) -> Vec<Call> {
        self.redis.cli(&["client", "pause", "60000", "write"]);
        let mut calls = Vec::new();
        for filing in filings {
            let store = self.store.clone();
            calls.push(tokio::spawn(async move { store.file(&filing).await }));
            // On the only thread, each task runs until it waits.
            yield_now().await;
        }
        calls
    }

    fn allow_memory(&self, bytes: &str) {
        self.redis.cli(&["config", "set", "maxmemory", bytes]);
    }

    fn follow(&self, host: &str, port: &str) {
        self.redis.cli(&["replicaof", host, port]);
    }

    fn release(&self) {
        self.redis.cli(&["client", "unpause"]);
    }

    async fn held(&self, filings: Vec<Filing>) -> Vec<Call> {
        let calls = self.hold(filings).await;
        self.release();
        calls
    }

    /// The ids of the takes; fails unless all were filed.
    async fn filed(&self, calls: Vec<Call>) -> Vec<TakeId> {
        let mut ids = Vec::new();
        for call in calls {
            let Filed::Filed(take, _) = call.await.unwrap().unwrap() else { panic!("not filed") };
            ids.push(take.id);
        }
        ids
    }
}
