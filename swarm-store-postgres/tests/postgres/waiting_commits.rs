//! Commits that wait for the lock of their tenant: they see what others commit meanwhile.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use swarm_core::TenantId;
use swarm_core::domain::{Attribution, SessionDraft, SessionId, SessionState, Snapshot};
use swarm_core::store::{Saved, SessionChange};
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;
use swarm_testing::{Author, TestTenant, session_draft};
use tokio::time::sleep;
use tokio_postgres::NoTls;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

/// Files the second take of a session, of which there is only one.
const FILE: &str = "
    INSERT INTO swarm.takes (tenant, id, session, member, revision, nonce, attempt, filed_at, current,
            version, seal, public_key, signature, about, payload)
        SELECT tenant, id + 1, session, member, revision + 1, nonce || '-', attempt, filed_at, current,
            version, seal, public_key, signature, about, payload FROM swarm.takes;
    UPDATE swarm.sequences SET number = number + 1 WHERE name = 'takes';
    UPDATE swarm.tenants SET seq = seq + 1;
    INSERT INTO swarm.log (tenant, seq, at, commit_id, refers, record)
        SELECT tenant, seq, last_at, last_commit, 'takes', 2 FROM swarm.tenants";

/// The takes that entries of the log open.
const OPENED: &str =
    "SELECT string_agg(record::text, ' ' ORDER BY seq) FROM swarm.log WHERE entry = 'opening'";

/// A tenant in a schema of its own.
struct Desk {
    world: TestTenant,
    schema: String,
}

impl Desk {
    async fn open() -> Self {
        let url = SERVER.url();
        let schema = url.split_once("schema=").unwrap().1.to_owned();
        let store = PostgresStore::create(&url).await.unwrap();
        Self { world: TestTenant::open(store, TenantId::parse("acme").unwrap()), schema }
    }

    /// A blind session with one take.
    async fn blind(&self) -> SessionId {
        let author = self.world.author("ada").await;
        let draft = SessionDraft { blind: true, ..session_draft("aurora") };
        let session = self.world.convene(&draft).await;
        self.world.filed(&author, &session, "1").await;
        session.id
    }

    /// A session with a snapshot.
    async fn aggregated(&self, subject: &str) -> (SessionId, Arc<Snapshot>) {
        let id = self.world.convened(subject).await.id;
        let session = self
            .world
            .service()
            .advance(id, SessionState::Aggregated, &Attribution::SCHEDULE)
            .await;
        (id, session.unwrap().snapshot.clone().unwrap())
    }

    /// The outcome of a change for which another process commits these statements while it waits for the lock.
    async fn raced(&self, change: &SessionChange, statements: &str) -> Saved {
        let (other, connection) = tokio_postgres::connect(&SERVER.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let lock = self.sql("BEGIN; SELECT FROM swarm.tenants FOR UPDATE");
        other.batch_execute(&lock).await.unwrap();
        let holder: i32 = other.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        let commit = async { self.world.store().save_session(change).await.unwrap() };
        let race = async {
            // Other tests wait for other locks of this server.
            let waiting = format!(
                "SELECT count(*) FROM pg_stat_activity WHERE {holder} = ANY (pg_blocking_pids(pid))"
            );
            while self.psql(&waiting) != "1" {
                sleep(Duration::from_millis(10)).await;
            }
            other.batch_execute(&self.sql(&format!("{statements}; COMMIT"))).await.unwrap();
        };
        tokio::join!(commit, race).0
    }

    fn sql(&self, sql: &str) -> String {
        sql.replace("swarm.", &format!("{}.", self.schema))
    }

    fn psql(&self, sql: &str) -> String {
        SERVER.psql(&self.sql(sql))
    }

    async fn snapshot(&self, id: SessionId) -> Option<Arc<Snapshot>> {
        self.world.session(id).await.unwrap().record.snapshot.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn take_that_is_filed_before_the_lock_is_opened() {
    let desk = Desk::open().await;
    let id = desk.blind().await;
    let now = Some(desk.world.now().await);
    let change = desk.world.amended(id, |session| session.opened_at = now).await;
    let change = SessionChange { opens: true, ..change };
    assert_eq!(desk.raced(&change, FILE).await, Saved::Saved);
    assert_eq!(desk.psql(OPENED), "1 2");
    let last = "SELECT max(l.seq) = max(t.seq) FROM swarm.log l, swarm.tenants t";
    assert_eq!(desk.psql(last), "t");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn take_that_is_filed_before_the_lock_makes_an_aggregation_stale() {
    let desk = Desk::open().await;
    let id = desk.blind().await;
    let (_, snapshot) = desk.aggregated("bolt").await;
    let change = desk.world.amended(id, |session| session.snapshot = Some(snapshot)).await;
    let change = SessionChange { takes: Some(1), opens: true, ..change };
    assert_eq!(desk.raced(&change, FILE).await, Saved::Stale);
    assert_eq!(desk.snapshot(id).await, None);
    let counted = SessionChange { takes: Some(2), ..change };
    assert_eq!(desk.world.save_session(&counted).await, Saved::Saved);
    assert_eq!(desk.psql(OPENED), "1 2");
}

/// It waits for another one that waits, and then for the lock itself. Each wait is short enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commit_whose_caller_has_given_up_is_not_made_once_it_has_the_lock() {
    let server = Server::start(&[]);
    let url = server.url();
    let schema = url.split_once("schema=").unwrap().1;
    let store = PostgresStore::create(&format!("{url}&statement_timeout=1")).await.unwrap();
    let world = TestTenant::open(store, TenantId::parse("acme").unwrap());
    world.convened("aurora").await;
    let lock = format!("BEGIN; SELECT FROM {schema}.tenants FOR UPDATE");
    let mut lockers = Vec::new();
    for _ in 0..2 {
        let (client, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        lockers.push(Arc::new(client));
    }
    let [holder, waiter] = &lockers[..] else { unreachable!() };
    holder.batch_execute(&lock).await.unwrap();
    let waiting = tokio::spawn({
        let waiter = Arc::clone(waiter);
        async move { waiter.batch_execute(&lock).await }
    });
    let wait_for = async |statement: &str, count: &str| {
        while server.psql(statement) != count {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let waiters = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    wait_for(waiters, "1").await;
    let commit = tokio::spawn({
        let store = world.store().clone();
        async move { store.save_member(&Author::named("ada").creation()).await }
    });
    wait_for(waiters, "2").await;
    sleep(Duration::from_millis(500)).await;
    waiter.cancel_token().cancel_query(NoTls).await.unwrap();
    waiting.await.unwrap().unwrap_err();
    commit.await.unwrap().unwrap_err();
    holder.batch_execute("ROLLBACK").await.unwrap();
    let active = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'swarm' AND state = 'active'";
    wait_for(active, "0").await;
    assert_eq!(server.psql(&format!("SELECT count(*) FROM {schema}.members")), "0");
}
