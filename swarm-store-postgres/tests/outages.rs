//! PostgreSQL killed or failed over, and connections cut or slow, while members file: acknowledged takes are stored once
//! and complete.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use swarm_core::domain::Seq;
use swarm_core::store::{Collection, DocumentDraft, Filed};
use swarm_core::{Session, Take, TenantId};
use swarm_postgres_testing::{Proxy, Server};
use swarm_store_postgres::PostgresStore;
use swarm_testing::{Author, World, act, judged};
use tokio::task::JoinSet;
use tokio::time::sleep;

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
    desk.end(filing).await;
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
    desk.end(filing).await;
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
    desk.end(filing).await;
}

/// While a server waits for the answer of a commit, another one commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_commit_holds_its_lock_over_a_round_trip() {
    let server = Server::start(&[]);
    let url = server.url();
    let proxy = Proxy::in_front_of(server.port, Duration::ZERO).await;
    let by_proxy = url.replace(&server.port.to_string(), &proxy.port.to_string());
    let open = async |url: &str| {
        let store = PostgresStore::connect(&format!("{url}&pool=1")).await.unwrap();
        World::open(Arc::new(store), TenantId::parse("acme").unwrap())
    };
    let (near, far) = (open(&url).await, open(&by_proxy).await);
    let (author, session) = (near.author("ada").await, near.convened("aurora").await);
    let filing = near.judged(&author, &author.submission(&session, "nonce")).await;
    let amended = near.amended(session.id, |session| session.quorum = Some(3)).await;
    let memo = DocumentDraft { key: None, ..DocumentDraft::of_occasion("memo", session.id) };
    let creation = Author::named("bob").creation();
    let store = far.store();
    let commits: [BoxFuture<'_, bool>; 5] = [
        Box::pin(async { store.file(&filing).await.is_ok() }),
        Box::pin(async { store.save_session(&amended).await.is_ok() }),
        Box::pin(async { store.save_member(&creation).await.is_ok() }),
        Box::pin(async { store.put_document(Collection::Memos, &memo).await.is_ok() }),
        Box::pin(async { store.accept_key(&act("accepted")).await.is_ok() }),
    ];
    for (number, commit) in commits.into_iter().enumerate() {
        far.now().await;
        proxy.withhold();
        let elsewhere = async {
            proxy.has_withheld().await;
            near.convened(&format!("subject-{number}")).await;
            proxy.release();
        };
        let (is_committed, ()) = tokio::join!(commit, elsewhere);
        assert!(is_committed, "{number}");
    }
}

/// Two handles of one store, and what their members were told.
#[derive(Clone)]
struct Desk {
    worlds: [World; 2],
    sessions: Arc<Vec<Arc<Session>>>,
    acknowledged: Arc<AtomicUsize>,
    has_ended: Arc<AtomicBool>,
}

impl Desk {
    async fn open([one, other]: [&str; 2]) -> Self {
        let open = async |url: &str| {
            let store = PostgresStore::connect(url).await.unwrap();
            World::open(Arc::new(store), TenantId::parse("acme").unwrap())
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
    async fn file_takes(self, world: World, author: Author) -> Vec<Arc<Take>> {
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
            let Filed::Filed(take) = filed else { panic!("{filed:?}") };
            told.push(take);
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        told
    }

    async fn wait_for(&self, acknowledged: usize) {
        while self.acknowledged.load(Ordering::Relaxed) < acknowledged {
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Stops the members, and compares what they were told with what is stored.
    async fn end(&self, filing: JoinSet<Vec<Arc<Take>>>) {
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
        assert_eq!(rows, Seq(u64::try_from(told.len() + SESSIONS).unwrap()));
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
