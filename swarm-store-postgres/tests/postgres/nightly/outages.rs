//! PostgreSQL killed, failed over or out of space, and connections cut or slow, while members file: acknowledged takes are
//! stored once and complete. Other commits whose answers are lost are made once.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::domain::{Attribution, Seq, SessionId};
use swarm_core::rules::{Filing, convene};
use swarm_core::store::{
    Collection, DocumentDraft, Filed, MemberSaved, Put, Saved, SessionChange, StoreErrorKind,
};
use swarm_core::{Session, Take, TenantId};
use swarm_postgres_testing::{Proxy, Server};
use swarm_store_postgres::PostgresStore;
use swarm_testing::{Author, TestTenant, act, judged, session_draft};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::NoTls;

/// The members that file at the same time, each through one of two handles.
const MEMBERS: usize = 64;

/// The takes that must be acknowledged before each outage, and after the last.
const ACKNOWLEDGED: usize = 150;

const ROUNDS: usize = 4;

/// In each, a member files five takes.
const SESSIONS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn killed_server_loses_and_doubles_no_acknowledged_take() {
    let mut server = Server::start(&[]);
    let url = server.url();
    let desk = Desk::open([&url, &url]).await;
    let filing = desk.begin().await;
    for round in 1..=ROUNDS {
        desk.wait_for(round * ACKNOWLEDGED).await;
        server.kill();
        server.resume();
    }
    desk.wait_for((ROUNDS + 1) * ACKNOWLEDGED).await;
    desk.end(filing, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cut_connections_lose_and_double_no_acknowledged_take() {
    let server = Server::start(&[]);
    let url = server.url();
    // A delay, so that many answers are lost.
    let far = Proxy::in_front_of(server.port, Duration::from_millis(5)).await;
    let by_proxy = url.replace(&server.port.to_string(), &far.port.to_string());
    let desk = Desk::open([&url, &by_proxy]).await;
    let filing = desk.begin().await;
    for round in 1..=3 * ROUNDS {
        desk.wait_for(round * ACKNOWLEDGED / 3).await;
        server.psql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'swarm'",
        );
    }
    desk.wait_for((ROUNDS + 1) * ACKNOWLEDGED).await;
    desk.end(filing, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn promoted_standby_has_every_acknowledged_take_once() {
    let mut server = Server::start(&[]);
    let standby = server.with_standby();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", server.port, standby.port);
    let url = server.url().replace(&format!("127.0.0.1:{}", server.port), &hosts);
    let desk = Desk::open([&url, &url]).await;
    let filing = desk.begin().await;
    desk.wait_for(ACKNOWLEDGED).await;
    server.kill();
    standby.promote();
    desk.wait_for(3 * ACKNOWLEDGED).await;
    desk.end(filing, 0).await;
}

/// Its connections still read, so nothing is tried over one after another of them.
#[tokio::test]
async fn first_commit_after_a_server_was_demoted_finds_the_other() {
    let server = Server::start(&[]);
    let standby = server.with_standby();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", server.port, standby.port);
    let url = server.url().replace(&format!("127.0.0.1:{}", server.port), &hosts);
    let store = PostgresStore::create(&format!("{url}&pool=40")).await.unwrap();
    let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
    world.convened("aurora").await;
    open_connections(&server, &url, &world, 20).await;
    server.psql("ALTER SYSTEM SET default_transaction_read_only = on");
    server.psql("SELECT pg_reload_conf()");
    while server.psql("SHOW transaction_read_only") != "on" {
        sleep(Duration::from_millis(10)).await;
    }
    standby.promote();
    world.convened("bolt").await;
}

/// Makes a store open this many connections, by as many reads that wait at the same time.
async fn open_connections(server: &Server, url: &str, world: &TestTenant, count: usize) {
    let schema = url.split_once("schema=").unwrap().1;
    let (blocker, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock = format!("BEGIN; LOCK TABLE {schema}.sessions IN ACCESS EXCLUSIVE MODE");
    blocker.batch_execute(&lock).await.unwrap();
    let reads = (0..count).map(|_| {
        let store = world.store().clone();
        tokio::spawn(async move { store.session(SessionId(1)).await })
    });
    let reads: Vec<_> = reads.collect();
    while server.psql("SELECT count(*) FROM pg_locks WHERE NOT granted") != count.to_string() {
        sleep(Duration::from_millis(10)).await;
    }
    blocker.batch_execute("ROLLBACK").await.unwrap();
    for read in reads {
        assert!(read.await.unwrap().unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn full_disk_refuses_takes_and_keeps_acknowledged_ones() {
    let Some(server) = Server::start_with_small_disk() else { return };
    let url = format!("{}&options=-c%20default_tablespace%3Dsmall", server.url());
    let desk = Desk::open([&url, &url]).await;
    let store = PostgresStore::create(&url).await.unwrap();
    let world = TestTenant::open(store.clone(), TenantId::parse("acme").unwrap());
    let filing = desk.begin().await;
    desk.wait_for(ACKNOWLEDGED).await;
    server.fill_disk();
    let long = DocumentDraft {
        json: "-".repeat(100_000),
        key: None,
        ..DocumentDraft::of_occasion("", SessionId(1))
    };
    let error = world.store().put_document(Collection::Memos, &long).await.unwrap_err();
    // It is answered 503.
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let warnings = store.ready().await.unwrap().warnings;
    assert!(warnings[0].contains("no space left"), "{warnings:?}");
    // Pages that are not full yet take some more.
    while desk.files_within(Duration::from_millis(500)).await {}
    server.empty_disk();
    desk.wait_for(desk.acknowledged() + ACKNOWLEDGED).await;
    world.convened("afterwards").await;
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    desk.end(filing, 1).await;
}

/// While a server waits for the answer of a commit, another one commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_commit_holds_its_lock_over_a_round_trip() {
    let link = Link::open().await;
    for number in 0..COMMITS {
        link.far.now().await;
        link.proxy.withhold();
        let elsewhere = async {
            link.proxy.has_withheld().await;
            link.near.convened(&format!("subject-{number}")).await;
            link.proxy.release();
        };
        let (is_made, ()) = tokio::join!(link.commit(number), elsewhere);
        assert!(is_made, "{number}");
    }
}

/// It is sent again, and its attempt is recognized.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commit_whose_answer_is_lost_is_made_once() {
    let link = Link::open().await;
    let size = link.near.log_size().await;
    for number in 0..COMMITS {
        link.far.now().await;
        link.proxy.withhold();
        let cut = async {
            link.proxy.has_withheld().await;
            link.proxy.lose();
        };
        let (is_made, ()) = tokio::join!(link.commit(number), cut);
        assert!(is_made, "{number}");
    }
    let rows = link.near.log(size, usize::MAX).await;
    assert_eq!(rows.len(), 4, "the take, both sessions and the key: {rows:?}");
    assert_eq!(link.near.convened("cask").await.id, SessionId(3));
    assert_eq!(link.near.store().documents(Collection::Memos, None).await.unwrap().len(), 1);
}

/// A store over a connection that a test controls, and another beside it.
struct Link {
    proxy: Proxy,
    near: TestTenant,
    far: TestTenant,
    filing: Filing,
    amended: SessionChange,
    _server: Server,
}

/// The kinds of commits that a [`Link`] makes.
const COMMITS: usize = 6;

impl Link {
    async fn open() -> Self {
        let server = Server::start(&[]);
        let url = server.url();
        let proxy = Proxy::in_front_of(server.port, Duration::ZERO).await;
        let by_proxy = url.replace(&server.port.to_string(), &proxy.port.to_string());
        let open = async |url: &str| {
            let store = PostgresStore::create(&format!("{url}&pool=1")).await.unwrap();
            TestTenant::open(store, TenantId::parse("acme").unwrap())
        };
        let (near, far) = (open(&url).await, open(&by_proxy).await);
        let (author, session) = (near.author("ada").await, near.convened("aurora").await);
        let filing = near.judged(&author, &author.submission(&session, "nonce")).await;
        let amended = near.amended(session.id, |session| session.quorum = Some(3)).await;
        Self { proxy, near, far, filing, amended, _server: server }
    }

    /// Makes the commit with this number; returns whether it was made, and not refused as one that came before.
    async fn commit(&self, number: usize) -> bool {
        let store = self.far.store();
        match number {
            0 => matches!(store.file(&self.filing).await, Ok(Filed::Filed(..))),
            1 => matches!(store.save_session(&self.amended).await, Ok(Saved::Saved)),
            2 => {
                let creation = Author::named("bob").creation();
                matches!(store.save_member(&creation).await, Ok(MemberSaved::Saved))
            }
            3 => {
                let memo =
                    DocumentDraft { key: None, ..DocumentDraft::of_occasion("", SessionId(1)) };
                matches!(store.put_document(Collection::Memos, &memo).await, Ok(Put::Created(_)))
            }
            4 => {
                let draft = convene(&session_draft("bolt"), &Attribution::SCHEDULE);
                store.convene(&draft).await.is_ok()
            }
            _ => store.accept_key(&act("accepted")).await.is_ok(),
        }
    }
}

/// Two handles of one store, and what their members were told.
#[derive(Clone)]
struct Desk {
    worlds: [TestTenant; 2],
    sessions: Arc<Vec<Arc<Session>>>,
    acknowledged: Arc<AtomicUsize>,
    has_ended: Arc<AtomicBool>,
}

impl Desk {
    async fn open([one, other]: [&str; 2]) -> Self {
        let open = async |url: &str| {
            let store = PostgresStore::create(url).await.unwrap();
            TestTenant::open(store, TenantId::parse("acme").unwrap())
        };
        let (worlds, mut sessions) = ([open(one).await, open(other).await], Vec::new());
        for number in 0..SESSIONS {
            sessions.push(worlds[0].convened(&format!("subject-{number}")).await);
        }
        let (acknowledged, has_ended) = Default::default();
        Self { worlds, sessions: Arc::new(sessions), acknowledged, has_ended }
    }

    /// Lets all members file, until the end.
    async fn begin(&self) -> JoinSet<Vec<Arc<Take>>> {
        let mut filing = JoinSet::new();
        for member in 0..MEMBERS {
            let author = self.worlds[0].author(&format!("member-{member}")).await;
            filing.spawn(self.clone().file_takes(self.worlds[member % 2].clone(), author));
        }
        filing
    }

    /// Files five takes in one session after another. What got no answer is sent again, as by a client library.
    async fn file_takes(self, world: TestTenant, author: Author) -> Vec<Arc<Take>> {
        let mut told = Vec::new();
        for number in 0..5 * SESSIONS {
            if self.has_ended.load(Ordering::Relaxed) {
                break;
            }
            let submission =
                author.submission(&self.sessions[number / 5], &format!("nonce-{number}"));
            let basis = loop {
                if let Some(basis) = answer(author.basis(world.store(), &submission).await).await {
                    break basis;
                }
            };
            let filing = judged(&basis, &submission);
            let filed = loop {
                if let Some(filed) = answer(world.store().file(&filing).await).await {
                    break filed;
                }
            };
            let Filed::Filed(take, _) = filed else { panic!("{filed:?}") };
            told.push(take);
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        told
    }

    fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed)
    }

    async fn wait_for(&self, acknowledged: usize) {
        while self.acknowledged() < acknowledged {
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether a take is acknowledged within this time.
    async fn files_within(&self, time: Duration) -> bool {
        let before = self.acknowledged();
        sleep(time).await;
        self.acknowledged() > before
    }

    /// Stops the members, and compares what they were told with what is stored. `others` is the number of rows of the log
    /// that are neither of their takes nor of the sessions.
    async fn end(&self, filing: JoinSet<Vec<Arc<Take>>>, others: usize) {
        self.has_ended.store(true, Ordering::Relaxed);
        let mut told = filing.join_all().await.concat();
        told.sort_by_key(|take| take.id);
        let mut stored = Vec::new();
        for session in &*self.sessions {
            stored.extend(self.worlds[1].takes(session.id).await);
        }
        stored.sort_by_key(|take| take.id);
        assert_eq!(stored.len(), told.len());
        assert!(stored == told);
        // Each has one row of the log, as has each session.
        let rows = self.worlds[1].log_size().await;
        assert_eq!(rows, Seq(u64::try_from(told.len() + SESSIONS + others).unwrap()));
    }
}

/// The answer, if any; waits a little where there is none.
async fn answer<T>(answer: swarm_core::store::Result<T>) -> Option<T> {
    if let Err(error) = &answer {
        assert!(error.is_transient(), "{error:?}");
        sleep(Duration::from_millis(10)).await;
    }
    answer.ok()
}
