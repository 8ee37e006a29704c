//! Commits that wait for replicas survive the loss of the primary.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::Session;
use swarm_core::domain::{Day, Message, OperatorAct};
use swarm_core::rules::{Filing, Refusal};
use swarm_core::store::{
    CommitteeFiled, Filed, MemberSaved, MessageChange, MessageQuery, Records, Result,
    SessionChange, Versioned,
};
use swarm_redis_testing::{Cluster, Proxy, Server};
use swarm_store_redis::RedisStore;
use swarm_testing::Author;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::world::{
    BOUND, committee, creation_with_mail, draft, facts, joined, judged, nonces, open, put, walk,
};

#[tokio::test(flavor = "multi_thread")]
async fn commits_fail_while_the_replica_is_down() {
    let (primary, replica) = pair();
    let store = RedisStore::connect(&format!("{}?wait=1", primary.url())).await.unwrap();
    let (waiting, plain) = (open(&store), connect(&primary.url()).await);
    let author = joined(&waiting, "ada").await;
    let session = waiting.convene(&draft("subject")).await.unwrap();
    let filing = judged(&waiting, &author, &session, "nonce").await;

    let grace = creation_with_mail(&Author::named("grace"));
    assert_eq!(waiting.save_member(&grace).await.unwrap(), MemberSaved::Saved);
    let Versioned { version: expected, record } =
        waiting.messages(&MessageQuery::ALL).await.unwrap().remove(0);
    let mailed = MessageChange::new(Message::clone(&record), expected);
    // Another session, so that the filing above is not stale.
    let last = waiting.convene(&draft("last")).await.unwrap().id;
    let Versioned { version: expected, record } = waiting.session(last).await.unwrap().unwrap();
    let amended = SessionChange {
        session: Session::clone(&record),
        expected,
        takes: None,
        takes_refusal: Refusal::TakesSealed,
        none_filed_after: None,
        withdrawn: false,
        acts: vec![draft("subject").act],
        opens: false,
    };
    let (eve, other) = (Author::named("eve").creation(), draft("other"));
    let act = OperatorAct::unnamed("act");

    let committee_store = committee::open(&store);
    committee::convened(&committee_store, &["ada"]).await;
    let submission = committee::judged(&committee_store, "ada", "mark").await;
    let (seated, mut opened) = (committee::seat("eve"), committee::opening("ada"));
    opened.day.date = Day::parse("2026-11-22").unwrap();

    replica.signal("STOP");
    tokio::join!(
        is_unknown(waiting.file(&filing)),
        is_unknown(waiting.convene(&other)),
        is_unknown(put(&waiting, None)),
        is_unknown(waiting.save_member(&eve)),
        is_unknown(waiting.save_message(&mailed)),
        is_unknown(waiting.save_session(&amended)),
        is_unknown(waiting.record_act(&act, None)),
        is_unknown(committee_store.file_committee(&submission)),
        is_unknown(committee_store.save_committee_member(&seated)),
        is_unknown(committee_store.save_committee_day(&opened)),
    );
    // Retries find their attempts committed, and still fail.
    is_unknown(waiting.file(&filing)).await;
    is_unknown(committee_store.file_committee(&submission)).await;
    // The facts are not returned either, although the take is stored.
    is_unknown(facts(&waiting, &author, &session, "nonce")).await;
    assert_eq!(nonces(&waiting, &session).await, ["nonce"]);
    assert!(facts(&plain, &author, &session, "nonce").await.unwrap().spent.is_some());

    replica.signal("CONT");
    let Filed::Filed(take, _) = waiting.file(&filing).await.unwrap() else { panic!("not filed") };
    assert!(matches!(
        committee_store.file_committee(&submission).await.unwrap(),
        CommitteeFiled::Filed(_)
    ));
    assert_eq!(committee::marks(&committee_store).await, ["mark"]);
    let spent = facts(&waiting, &author, &session, "nonce").await.unwrap().spent;
    assert_eq!(
        (spent, nonces(&waiting, &session).await),
        (Some(take.into()), vec!["nonce".to_owned()])
    );
}

/// Reads have a connection of their own.
#[tokio::test(flavor = "multi_thread")]
async fn reads_do_not_wait_for_commits() {
    let (primary, replica) = pair();
    let store = connect(&format!("{}?wait=1", primary.url())).await;
    replica.signal("STOP");
    let mut commits = JoinSet::new();
    for _ in 0..100 {
        let store = store.clone();
        commits.spawn(async move { put(&store, None).await.is_err() });
    }
    while !primary.cli(&["info", "clients"]).contains("blocked_clients:32") {
        sleep(Duration::from_millis(5)).await;
    }
    store.now().await.unwrap();
    assert!(commits.try_join_next().is_none(), "commits ended before the read");
    assert!(timeout(BOUND, commits.join_all()).await.unwrap().into_iter().all(|failed| failed));
    replica.signal("CONT");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_sent_again_after_a_flush_for_commits_that_wait() {
    let (primary, _replica) = pair();
    let store = RedisStore::connect(&format!("{}?wait=1", primary.url())).await.unwrap();
    walk(&store, || drop(primary.cli(&["script", "flush"]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_replicas_are_warned_of() {
    let (primary, _replica) = pair();
    let warnings = async |wait: usize| {
        let url = format!("{}?wait={wait}", primary.url());
        RedisStore::connect(&url).await.unwrap().ready().await.unwrap().warnings
    };
    assert_eq!(warnings(1).await, [""; 0]);
    let missing = warnings(2).await;
    assert!(matches!(&missing[..], [text] if text.contains("2 replicas, and there are 1")));
}

/// The ACL that `README.md` gives.
#[tokio::test(flavor = "multi_thread")]
async fn documented_acl_with_wait_suffices() {
    let (primary, _replica) = pair();
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "-@all"];
    let data = ["+@hash", "+@list", "+@sortedset", "+@stream", "+@string"];
    let rest = ["+eval", "+evalsha", "+time", "+ping", "+wait"];
    assert_eq!(primary.cli(&[&user[..], &data, &rest].concat()).trim(), "OK");
    let url = primary.url().replace("://", "://swarm:secret@") + "?wait=1";
    let store = RedisStore::connect(&url).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    walk(&store, || ()).await;
}

/// The cluster client finds the primary of the tenant, and sends the scripts there.
#[cfg(feature = "cluster")]
#[tokio::test(flavor = "multi_thread")]
async fn commits_to_a_cluster_wait_for_the_replica_of_their_slot() {
    let cluster = Cluster::start_with(1);
    let store = RedisStore::connect(&format!("{}?wait=1", cluster.url())).await.unwrap();
    let forget = || cluster.nodes.iter().for_each(|node| drop(node.cli(&["script", "flush"])));
    walk(&store, forget).await;
    let store = open(&store);
    let session = store.convene(&draft("other")).await.unwrap();
    let author = joined(&store, "grace").await;
    let filing = judged(&store, &author, &session, "nonce").await;

    let is_replica = |node: &&Server| node.cli(&["role"]).starts_with("slave");
    let replicas: Vec<&Server> = cluster.nodes.iter().filter(is_replica).collect();
    assert_eq!(replicas.len(), 3);
    replicas.iter().for_each(|node| node.signal("STOP"));
    is_unknown(store.file(&filing)).await;
    replicas.iter().for_each(|node| node.signal("CONT"));
    assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(..)));
    assert_eq!(nonces(&store, &session).await, ["nonce"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failover_after_wait_loses_nothing() {
    for lagging in [false, true] {
        let lost = failover("?wait=1", lagging).await;
        assert_eq!(lost, [""; 0], "lagging: {lagging}");
    }
}

/// Shows that the test above would detect a loss.
#[tokio::test(flavor = "multi_thread")]
async fn failover_without_wait_loses_what_the_replica_lacked() {
    let lost = failover("", true).await;
    assert!(lost.len() >= ROUND, "{} lost", lost.len());
}

/// The number of takes acknowledged before the replica begins to lag, and after, if any.
const ROUND: usize = 50;

/// Kills a primary while takes are filed, and promotes its replica, which is cut off for a while first
/// if `lagging`. Returns the nonces of the takes that were acknowledged and are not on the new primary.
/// Checks that all takes can be sent again, and are stored once then.
async fn failover(options: &str, lagging: bool) -> Vec<String> {
    let (mut primary, replica) = (Server::start(&[]), Server::start(&[]));
    let (front, between) =
        (Proxy::in_front_of(primary.port).await, Proxy::in_front_of(primary.port).await);
    replica.replicate_from(between.port());
    let (session, filings) = prepare(&primary).await;
    let store = connect(&format!("{}{options}", front.url("redis"))).await;

    let load = Load::of(&filings);
    let filers = load.start(&store);
    load.gate.add_permits(ROUND);
    load.counts(ROUND, 0).await;
    if lagging {
        between.mute();
    }
    load.gate.add_permits(filings.len() - ROUND);
    match (options, lagging) {
        ("?wait=1", true) => load.counts(ROUND, 1).await,
        _ => load.counts(2 * ROUND, 0).await,
    }
    primary.stop();
    replica.cli(&["replicaof", "no", "one"]);
    front.forward_to(replica.port);
    load.gate.close();
    let acknowledged: Vec<usize> = filers.join_all().await.concat();

    let direct = connect(&replica.url()).await;
    let on_file = nonces(&direct, &session).await;
    let mut lost: Vec<String> = acknowledged.iter().map(|number| nonce(*number)).collect();
    lost.retain(|nonce| !on_file.contains(nonce));
    for filing in filings.iter() {
        assert!(matches!(direct.file(filing).await.unwrap(), Filed::Filed(..)));
    }
    let mut all = nonces(&direct, &session).await;
    all.sort_unstable();
    assert_eq!(all, (0..filings.len()).map(nonce).collect::<Vec<_>>());
    lost
}

/// A session, and judged takes for it, one per member, that are not filed yet. The replica has received everything.
async fn prepare(primary: &Server) -> (Arc<Session>, Arc<Vec<Filing>>) {
    let store = connect(&format!("{}?wait=1", primary.url())).await;
    let session = store.convene(&draft("subject")).await.unwrap();
    let mut filings = Vec::new();
    for number in 0..4 * ROUND {
        let author = joined(&store, &format!("member {number}")).await;
        filings.push(judged(&store, &author, &session, &nonce(number)).await);
    }
    (session, Arc::new(filings))
}

fn nonce(number: usize) -> String {
    format!("nonce {number:03}")
}

/// Concurrent filers that share a list of filings; each filing needs a permit of the gate.
struct Load {
    filings: Arc<Vec<Filing>>,
    gate: Semaphore,
    next: AtomicUsize,
    acknowledged: AtomicUsize,
    failed: AtomicUsize,
}

impl Load {
    fn of(filings: &Arc<Vec<Filing>>) -> Arc<Self> {
        let [next, acknowledged, failed] = [(); 3].map(|()| AtomicUsize::new(0));
        let (filings, gate) = (Arc::clone(filings), Semaphore::new(0));
        Arc::new(Self { filings, gate, next, acknowledged, failed })
    }

    /// Each filer returns the numbers of its acknowledged takes.
    fn start(self: &Arc<Self>, store: &Records) -> JoinSet<Vec<usize>> {
        (0..8).map(|_| Arc::clone(self).file(store.clone())).collect()
    }

    /// Files until the gate is closed.
    async fn file(self: Arc<Self>, store: Records) -> Vec<usize> {
        let mut filed = Vec::new();
        while let Ok(permit) = self.gate.acquire().await {
            permit.forget();
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            match store.file(&self.filings[number]).await {
                Ok(Filed::Filed(..)) => {
                    filed.push(number);
                    self.acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                Ok(other) => panic!("{other:?}"),
                Err(_) => drop(self.failed.fetch_add(1, Ordering::SeqCst)),
            }
        }
        filed
    }

    /// Waits until at least `acknowledged` filings were acknowledged and `failed` ones failed.
    async fn counts(&self, acknowledged: usize, failed: usize) {
        let reached = || {
            self.acknowledged.load(Ordering::SeqCst) >= acknowledged
                && self.failed.load(Ordering::SeqCst) >= failed
        };
        let waited = timeout(10 * BOUND, async {
            while !reached() {
                sleep(Duration::from_millis(1)).await;
            }
        });
        waited.await.unwrap();
    }
}

/// Checks that the call returns an error in time.
async fn is_unknown<T: Debug>(call: impl Future<Output = Result<T>>) {
    let outcome = timeout(BOUND, call).await.unwrap();
    assert!(outcome.is_err(), "{outcome:?}");
}

fn pair() -> (Server, Server) {
    let (primary, replica) = (Server::start(&[]), Server::start(&[]));
    replica.replicate_from(primary.port);
    (primary, replica)
}

async fn connect(url: &str) -> Records {
    open(&RedisStore::connect(url).await.unwrap())
}
