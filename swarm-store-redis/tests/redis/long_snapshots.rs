//! Sessions whose snapshots are so long that they are in keys of their own: on each kind of server, while calls and answers
//! are lost, and without rights.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Arc;

use swarm_core::domain::SessionState::Published;
use swarm_core::domain::TenantId;
use swarm_core::store::{
    Restored, Saved, SessionChange, SessionQuery, SummaryQuery, TakeQuery, Versioned,
};
use swarm_core::{Session, SessionId};
use swarm_redis_testing::{Proxy, Server};
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, FIRST, TestTenant};

use crate::world::snapshots::{aggregate, aggregate_with};
use crate::world::{ALL, RECORDS, field_of_number};

/// How many pieces their snapshots have.
const PIECES: usize = 4;

const ID: SessionId = SessionId(1);

#[tokio::test]
async fn long_snapshot_is_in_a_key_of_its_own() {
    let server = Server::start(&[]);
    let world = tenant(&server.url()).await;
    let session = world.convened("subject").await;
    world.amend(ID, aggregate).await;
    let snapshot = name(&server);
    assert_eq!(server.cli(&["pttl", &snapshot]).trim(), "-1");
    assert_eq!(server.cli(&["llen", &snapshot]).trim(), PIECES.to_string());
    let mut redis = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let id = [&field_of_number("sessions", 1)[..], &[254]].concat();
    let row = redis::cmd("HSTRLEN").arg(RECORDS).arg(id).query::<usize>(&mut redis);
    assert!((100..1_500).contains(&row.clone().unwrap()), "{row:?}");
    assert_reads(&world, &aggregated(&session)).await;

    // It is the same, and is not written again.
    let before = server.calls("rpush");
    world.amend(ID, |session| session.state = Published).await;
    assert_eq!(name(&server), snapshot);
    // That of the log.
    assert_eq!(server.calls("rpush") - before, 1);
    assert_eq!(server.cli(&["pttl", &snapshot]).trim(), "-1");
    assert_reads(&world, &Session { state: Published, ..aggregated(&session) }).await;
}

#[tokio::test]
async fn only_a_long_snapshot_is_read_by_more_than_one_call() {
    let server = Server::start(&[]);
    let world = tenant(&server.url()).await;
    world.convened("subject").await;
    let read = async || {
        let before = ["hget", "lrange", "evalsha"].map(|command| server.calls(command));
        let session = world.session(ID).await.unwrap().record;
        let after = ["hget", "lrange", "evalsha"].map(|command| server.calls(command));
        let calls = [0, 1, 2].map(|command| after[command] - before[command]);
        (session.snapshot.as_ref().unwrap().quotes.len(), calls)
    };
    world.amend(ID, |session| aggregate_with(session, 10)).await;
    assert_eq!(names(&server), [""; 0]);
    // The part, which is stored beside the record.
    assert_eq!(read().await, (10, [1, 0, 1]));
    world.amend(ID, aggregate).await;
    name(&server);
    assert_eq!(read().await, (100, [0, 1, 1]));
}

#[tokio::test]
async fn withdrawn_or_shorter_snapshot_leaves_no_key() {
    let server = Server::start(&[]);
    let world = tenant(&server.url()).await;
    let session = world.convened("subject").await;
    world.amend(ID, aggregate).await;
    world.amend(ID, |it| it.clone_from(&session)).await;
    assert_eq!(names(&server), [""; 0]);
    assert_reads(&world, &session).await;

    world.amend(ID, aggregate).await;
    name(&server);
    let mut change = world.amended(ID, |_| ()).await;
    (change.withdrawn, change.takes) = (true, Some(0));
    assert_eq!(world.save_session(&change).await, Saved::Saved);
    assert_eq!(names(&server), [""; 0]);
    assert_eq!(world.session(ID).await, None);
}

/// At each call of the save: those that stage the pieces, and the commit.
#[tokio::test(flavor = "multi_thread")]
async fn session_is_saved_once_when_calls_and_answers_are_lost() {
    let Lossy { server, proxy, direct, lossy, session } = Lossy::start().await;
    for call in 0..=PIECES {
        for (calls, answers) in [(1, 0), (0, 1)] {
            direct.amend(ID, |it| it.clone_from(&session)).await;
            let (log, change) = (direct.log_size().await, direct.amended(ID, aggregate).await);
            let before = server.scripts();
            proxy.let_pass(call);
            proxy.drop_next(calls, answers);
            assert_eq!(lossy.save_session(&change).await, Saved::Saved);
            // Each call that arrived: of the pieces, the commit, and what was sent again.
            let sent = server.scripts() - before;
            assert!(sent >= u64::try_from(PIECES + 1 + answers).unwrap(), "{call}: {sent}");
            let on_file = direct.session(ID).await.unwrap();
            assert_eq!(on_file.version, change.expected.next());
            assert_eq!(*on_file.record, aggregated(&session));
            assert_eq!(direct.log_size().await.0, log.0 + 1);
            name(&server);
        }
    }
}

/// When the call fails, its outcome is unknown: the session is aggregated, or as before. It is as before unless the commit
/// was sent.
#[tokio::test(flavor = "multi_thread")]
async fn session_is_saved_or_unchanged_when_its_save_fails() {
    let Lossy { server, proxy, direct, lossy, session } = Lossy::start().await;
    for call in 0..=PIECES {
        // Each call is sent twice.
        for (calls, answers) in [(2, 0), (0, 2)] {
            direct.amend(ID, |it| it.clone_from(&session)).await;
            let change = direct.amended(ID, aggregate).await;
            proxy.let_pass(call);
            proxy.drop_next(calls, answers);
            let saved = lossy.store().save_session(&change).await;
            proxy.let_pass(0);
            proxy.drop_next(0, 0);
            assert!(saved.is_err(), "{call}: {saved:?}");
            let on_file = direct.session(ID).await.unwrap();
            let is_saved = on_file.version == change.expected.next();
            assert!(!is_saved || (call == PIECES && answers > 0), "{call}");
            assert_eq!(*on_file.record == aggregated(&session), is_saved);
            assert_eq!(*on_file.record == *session, !is_saved);
            // What is left expires.
            for name in names(&server).iter().filter(|name| name.contains(":staged:")) {
                let left: i64 = server.cli(&["pttl", name]).trim().parse().unwrap();
                assert!((500_000..=600_000).contains(&left), "{name} stays for {left} ms");
                server.cli(&["del", name]);
            }
            assert_eq!(names(&server).len(), usize::from(is_saved), "{call}");
        }
    }
}

/// Those that the documentation names are enough. Without one of them nothing is written that stays.
#[tokio::test]
async fn nothing_stays_of_a_commit_without_the_rights() {
    let server = Server::start(&[]);
    let direct = tenant(&server.url()).await;
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "-@all"];
    let data = ["+@hash", "+@list", "+@sortedset", "+@stream", "+@string", "+eval", "+evalsha"];
    let rest = ["+time", "+ping", "+pexpire", "+persist", "+rename", "+unlink"];
    server.cli(&[&user[..], &data, &rest].concat());
    let limited = tenant(&server.url().replace("://", "://swarm:secret@")).await;
    let session = direct.convened("subject").await;
    let rights = ["pexpire", "rename", "persist"];
    let fails_without = async |right: &str, change: &SessionChange| {
        server.cli(&["acl", "setuser", "swarm", &format!("-{right}")]);
        limited.store().save_session(change).await.unwrap_err();
        server.cli(&["acl", "setuser", "swarm", &format!("+{right}")]);
    };
    for right in rights {
        let change = direct.amended(ID, aggregate).await;
        let log = direct.log_size().await;
        fails_without(right, &change).await;
        let on_file = Versioned { version: FIRST, record: Arc::clone(&session) };
        assert_eq!(direct.session(ID).await, Some(on_file), "{right}");
        assert_eq!(direct.log_size().await, log);
        assert_eq!(names(&server), [""; 0], "{right}");
    }
    limited.amend(ID, aggregate).await;
    assert_reads(&limited, &aggregated(&session)).await;
    // A snapshot that is there stays.
    let snapshot = name(&server);
    for right in rights {
        let change = direct.amended(ID, |session| aggregate_with(session, 99)).await;
        fails_without(right, &change).await;
        assert_reads(&direct, &aggregated(&session)).await;
        assert_eq!(name(&server), snapshot, "{right}");
        assert_eq!(server.cli(&["pttl", &snapshot]).trim(), "-1", "{right}");
    }
    limited.amend(ID, |it| it.clone_from(&session)).await;
    assert_reads(&limited, &session).await;
}

#[tokio::test]
async fn long_snapshot_moves_with_its_tenant() {
    let (server, other) = (Server::start(&[]), Server::start(&[]));
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let to = RedisStore::connect(&other.url()).await.unwrap();
    let world = TestTenant::open(store.clone(), acme());
    let session = world.convened("subject").await;
    world.amend(ID, aggregate).await;
    let (mut dump, mut restore) = (store.dump(&acme()).await.unwrap(), to.restore().await.unwrap());
    loop {
        let records = dump.next().await.unwrap();
        if records.is_empty() {
            break;
        }
        restore.write(&acme(), records).await.unwrap();
    }
    assert_eq!(restore.commit().await.unwrap(), Restored::Complete);
    assert_eq!(other.cli(&["pttl", &name(&other)]).trim(), "-1");
    let moved = TestTenant::open(to, acme());
    assert_reads(&moved, &aggregated(&session)).await;
    moved.amend(ID, |session| session.state = Published).await;
    assert_reads(&moved, &Session { state: Published, ..aggregated(&session) }).await;
}

/// A commit that waited for it is there with its snapshot after a failover.
#[tokio::test]
async fn replica_has_the_snapshot_of_an_acknowledged_commit() {
    let (primary, replica) = (Server::start(&[]), Server::start(&[]));
    replica.replicate_from(primary.port);
    let world = tenant(&format!("{}?wait=1", primary.url())).await;
    let session = world.convened("subject").await;
    world.amend(ID, aggregate).await;
    primary.signal("STOP");
    replica.cli(&["replicaof", "no", "one"]);
    let promoted = tenant(&replica.url()).await;
    assert_reads(&promoted, &aggregated(&session)).await;
    name(&replica);
    primary.signal("CONT");
}

#[cfg(feature = "cluster")]
#[tokio::test]
async fn long_snapshot_round_trips_on_a_cluster() {
    let cluster = swarm_redis_testing::Cluster::start();
    let world = tenant(&cluster.url()).await;
    let session = world.convened("subject").await;
    world.amend(ID, aggregate).await;
    assert_reads(&world, &aggregated(&session)).await;
    let on_nodes: Vec<String> = cluster.nodes.iter().flat_map(names).collect();
    assert_eq!(on_nodes.len(), 1);
}

/// A tenant with a session, also reached through a proxy.
struct Lossy {
    server: Server,
    proxy: Proxy,
    direct: TestTenant,
    lossy: TestTenant,
    /// As it was convened; it is aggregated now.
    session: Arc<Session>,
}

impl Lossy {
    async fn start() -> Self {
        let server = Server::start(&[]);
        let direct = tenant(&server.url()).await;
        let proxy = Proxy::in_front_of(server.port).await;
        let lossy = tenant(&proxy.url("redis")).await;
        let session = direct.convened("subject").await;
        // Opens the connection for long calls.
        lossy.amend(ID, aggregate).await;
        Self { server, proxy, direct, lossy, session }
    }
}

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

async fn tenant(url: &str) -> TestTenant {
    TestTenant::open(RedisStore::connect(url).await.unwrap(), acme())
}

/// The keys of snapshots, staged ones included.
fn names(server: &Server) -> Vec<String> {
    let found = server.cli(&["keys", "swarm:{acme}:parts:*"]);
    found.lines().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The key of the only snapshot, of which nothing is staged.
fn name(server: &Server) -> String {
    let [name] = <[String; 1]>::try_from(names(server)).unwrap();
    assert!(!name.contains(":staged:"), "{name}");
    name
}

/// Asserts that every read of the only session has this.
async fn assert_reads(world: &TestTenant, session: &Session) {
    assert_eq!(*world.session(ID).await.unwrap().record, *session);
    let listed = world.sessions(&ALL).await;
    assert_eq!(listed, [Arc::new(session.clone())]);
    let of_state = SessionQuery { state: Some(session.state), ..ALL };
    assert_eq!(world.sessions(&of_state).await, listed);
    let bare = SessionQuery { without_snapshots: true, ..ALL };
    let without = Session { snapshot: None, ..session.clone() };
    assert_eq!(world.sessions(&bare).await, [Arc::new(without)]);
    let with_takes = world.session_takes(&TakeQuery::latest(ID)).await.unwrap();
    assert_eq!(*with_takes.session.record, *session);
    let query = SummaryQuery { limit: 9, ..SummaryQuery::default() };
    let summary = world.session_summaries(&query).await.pop().unwrap();
    let figures = session.snapshot.as_ref().map(|snapshot| &snapshot.figures);
    assert_eq!((summary.figures.as_ref(), summary.state), (figures, session.state));
    let author = Author::named("ada");
    let facts = world.facts(&author, &author.submission(session, "nonce")).await;
    assert_eq!(*facts.session.unwrap().record, session.terms());
}

fn aggregated(session: &Session) -> Session {
    let mut session = session.clone();
    aggregate(&mut session);
    session
}
