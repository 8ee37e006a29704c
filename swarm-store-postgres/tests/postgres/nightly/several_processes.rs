//! Several handles of one database, as several processes; and that what they share is in the database.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::LazyLock;

use swarm_core::store::{Filed, Restored, Store, TABLES};
use swarm_core::{SessionId, TenantId};
use swarm_postgres_testing::Server;
use swarm_store_postgres::{PostgresBackend, PostgresStore};
use swarm_testing::conformance::{
    concurrent_members_all_file, wait_of_a_commit_counts_towards_its_deadline,
};
use swarm_testing::{RoundRobin, TestTenant, act, applicant, creation};
use tokio_postgres::NoTls;

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

async fn handles(url: &str) -> Store {
    let mut handles = Vec::new();
    for _ in 0..3 {
        handles.push(PostgresBackend::create(&format!("{url}&pool=4"), TABLES).await.unwrap());
    }
    Store::new(RoundRobin::new(handles))
}

async fn three_handles() -> ((), Store) {
    ((), handles(&SERVER.url()).await)
}

swarm_testing::conformance!(three_handles);

async fn three_processes() -> ((), Vec<Store>) {
    let url = SERVER.url();
    let mut processes = Vec::new();
    for _ in 0..3 {
        processes.push(PostgresStore::create(&url).await.unwrap().into());
    }
    ((), processes)
}

swarm_testing::change_feed_conformance!(three_processes);

/// Changes the function that begins commits.
fn change_commits(url: &str, from: &str, to: &str) {
    let schema = schema(url);
    let changed = SERVER.psql(&format!(
        "CREATE TEMP TABLE changed (source text);
         INSERT INTO changed SELECT replace(pg_get_functiondef('{schema}.begin_commits'::regproc), $${from}$$, $${to}$$);
         DO 'BEGIN EXECUTE (SELECT source FROM changed); END';
         SELECT strpos(source, $${to}$$) > 0 FROM changed"
    ));
    assert_eq!(changed, "t");
}

fn schema(url: &str) -> &str {
    url.split_once("schema=").unwrap().1
}

/// The fault that [`RoundRobin`] is for: the lock is not taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filing_without_the_lock_fails_the_suite() {
    let url = SERVER.url();
    let store = handles(&url).await;
    change_commits(&url, " FOR NO KEY UPDATE", "; PERFORM pg_sleep(0.1)");
    let case = tokio::spawn(concurrent_members_all_file(store));
    assert!(case.await.unwrap_err().is_panic());
}

/// Holds the lock of a tenant's commits.
async fn hold(url: &str, tenant: &TenantId) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&SERVER.address(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock =
        format!("BEGIN; SELECT FROM {}.tenants WHERE tenant = '{tenant}' FOR UPDATE", schema(url));
    client.batch_execute(&lock).await.unwrap();
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn wait_for_the_lock_counts_towards_the_deadline() {
    let url = SERVER.url();
    let store = PostgresStore::create(&url).await.unwrap().into();
    let hold = async |tenant: &TenantId| hold(&url, tenant).await;
    wait_of_a_commit_counts_towards_its_deadline(store, hold).await;
}

/// The fault that this case is for: the clock is read before the lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clock_read_before_the_lock_fails_the_case() {
    let url = SERVER.url();
    let store = PostgresStore::create(&url).await.unwrap().into();
    let read = format!("state.clock := \"{}\".clock(clock_timestamp());", schema(&url));
    change_commits(&url, &read, "state.clock := waited;");
    change_commits(&url, "layout bigint;", "layout bigint; waited bigint;");
    let begin = "  LOOP\n";
    change_commits(&url, begin, &format!("{} {begin}", read.replace("state.clock", "waited")));
    let case = tokio::spawn(async move {
        let hold = async |tenant: &TenantId| hold(&url, tenant).await;
        wait_of_a_commit_counts_towards_its_deadline(store, hold).await;
    });
    assert!(case.await.unwrap_err().is_panic());
}

/// PostgreSQL reports them of transactions that it undid because of others.
#[tokio::test]
async fn serialization_failures_and_deadlocks_are_tried_again() {
    let url = SERVER.url();
    let store = PostgresStore::create(&url).await.unwrap();
    let world = TestTenant::open(store, tenant("acme"));
    let (author, session) = (world.author("ada").await, world.convened("aurora").await);
    for code in ["40001", "40P01"] {
        let filing = world.judged(&author, &author.submission(&session, code)).await;
        fail(&url, 2, code);
        world.convened(&format!("subject-{code}")).await;
        fail(&url, 2, code);
        assert!(matches!(world.file(&filing).await, Filed::Filed(..)));
        fail(&url, 100, code);
        let error = world.store().accept_key(&act("accepted")).await.unwrap_err();
        assert!(error.is_contended(), "{error:?}");
        fail(&url, 0, code);
    }
}

/// Makes the next calls fail with this code.
fn fail(url: &str, calls: u32, code: &str) {
    let schema = schema(url);
    SERVER.psql(&format!(
        "DROP SEQUENCE IF EXISTS {schema}.calls;
         CREATE SEQUENCE {schema}.calls;
         CREATE OR REPLACE FUNCTION {schema}.clock(at timestamptz) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
         BEGIN
           IF nextval('{schema}.calls') <= {calls} THEN RAISE EXCEPTION USING ERRCODE = '{code}'; END IF;
           RETURN floor(extract(epoch FROM at) * 1000);
         END $$"
    ));
}

#[tokio::test]
async fn changes_by_any_process_name_their_tenants_once() {
    let url = SERVER.url();
    let (one, other) =
        (PostgresStore::create(&url).await.unwrap(), PostgresStore::create(&url).await.unwrap());
    for store in [&one, &other] {
        assert_eq!(changed(store).await, None);
        assert_eq!(changed(store).await, Some(Vec::new()));
    }
    TestTenant::open(one.clone(), tenant("acme")).convened("aurora").await;
    TestTenant::open(other.clone(), tenant("bolt")).author("ada").await;
    for store in [&one, &other] {
        assert_eq!(changed(store).await, Some(vec![tenant("acme"), tenant("bolt")]));
        assert_eq!(changed(store).await, Some(Vec::new()));
    }
    SERVER.psql(&format!("DELETE FROM {}.tenants WHERE tenant = 'acme'", schema(&url)));
    assert_eq!(changed(&one).await, None, "a database that was restored");
}

async fn changed(store: &PostgresStore) -> Option<Vec<TenantId>> {
    store.changes().await.unwrap().tenants
}

fn tenant(id: &str) -> TenantId {
    TenantId::parse(id).unwrap()
}

/// A restore holds the lock of its tenant. Other tenants are not affected.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tenant_that_is_being_restored_takes_no_commits() {
    let url = SERVER.url();
    let restoring = PostgresStore::create(&url).await.unwrap();
    let served = PostgresStore::create(&format!("{url}&pool=4&statement_timeout=1")).await;
    let served = served.unwrap();
    TestTenant::open(restoring.clone(), tenant("from")).convened("aurora").await;
    let mut dump = restoring.dump(&tenant("from")).await.unwrap();
    let mut restore = restoring.restore().await.unwrap();
    loop {
        let records = dump.next().await.unwrap();
        if records.is_empty() {
            break;
        }
        restore.write(&tenant("to"), records).await.unwrap();
    }

    let restored = TestTenant::open(served.clone(), tenant("to"));
    // More commits than connections.
    let commits = (0..20).map(|number| {
        let (store, member) = (restored.store().clone(), applicant(&format!("member {number}")));
        tokio::spawn(async move { store.save_member(&creation(&member)).await })
    });
    let commits: Vec<_> = commits.collect();
    TestTenant::open(served.clone(), tenant("other")).convened("aurora").await;
    for commit in commits {
        assert!(commit.await.unwrap().unwrap_err().is_transient());
    }
    assert_eq!(restore.commit().await.unwrap(), Restored::Complete);
    assert_eq!(restored.all_members().await.len(), 0);
    assert_eq!(
        restored.convened("aurora").await.id,
        SessionId(2),
        "the server goes on with what was restored"
    );
}
