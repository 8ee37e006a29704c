//! Sentinel: the primary is looked up, and looked up again after a failover.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use swarm_core::Session;
use swarm_core::rules::Filing;
use swarm_core::store::{Filed, Records};
use swarm_redis_testing::{Server, wait_until};
use swarm_store_redis::RedisStore;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::world::{BOUND, draft, joined, judged, nonces, open, walk};

/// The first sentinel is stopped together with the primary. A restarted primary believes for some ten
/// seconds that it still is the primary; the test demotes it at once.
#[tokio::test(flavor = "multi_thread")]
async fn failover_is_followed_and_loses_nothing() {
    let mut deployment = Deployment::start();
    let store = RedisStore::connect(&deployment.url("?wait=1&strict=true")).await.unwrap();
    assert_eq!(store.ready().await.unwrap().warnings, [""; 0]);
    let (session, filings) = prepare(&open(&store), 120).await;

    let load = Load::start(&store, &filings[..80]);
    load.counts(30).await;
    deployment.primary.stop();
    deployment.sentinels[0].stop();
    load.end().await;

    deployment.primary.resume();
    let another = RedisStore::connect(&deployment.url("?wait=1")).await.unwrap();
    Load::start(&store, &filings[80..90]).end().await;
    Load::start(&another, &filings[90..100]).end().await;
    let promoted = deployment.promoted();
    deployment.primary.replicate_from(promoted.port);
    Load::start(&store, &filings[100..110]).end().await;
    Load::start(&another, &filings[110..]).end().await;
    store.ready().await.unwrap();

    let direct = open(&RedisStore::connect(&promoted.url()).await.unwrap());
    let mut on_file = nonces(&direct, &session).await;
    on_file.sort_unstable();
    assert_eq!(on_file, (0..filings.len()).map(nonce).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn unmonitored_primary_is_an_error() {
    let deployment = Deployment::start();
    let (server, [one, ..]) = (deployment.primary.port, &deployment.sentinels[..]) else {
        panic!()
    };
    for url in [
        format!("redis-sentinel://127.0.0.1:{}/other", one.port),
        format!("redis-sentinel://127.0.0.1:{server}/{NAME}"),
        format!("redis-sentinel://127.0.0.1:{}", one.port),
        format!("redis-sentinel://127.0.0.1:{}/", one.port),
        format!("redis-sentinel:///{NAME}"),
        format!("redis-sentinel://user:secret@127.0.0.1:{}/{NAME}", one.port),
        one.url(),
    ] {
        assert!(timeout(BOUND, RedisStore::connect(&url)).await.unwrap().is_err(), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_sentinels_are_skipped() {
    let deployment = Deployment::start();
    deployment.sentinels[..2].iter().for_each(|sentinel| sentinel.signal("STOP"));
    let url = deployment.url("");
    let connected = timeout(BOUND, RedisStore::connect(&url)).await.unwrap();
    open(&connected.unwrap()).now().await.unwrap();
}

/// The credentials of the address are for the servers; these sentinels know no users.
#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_sent_to_servers_but_not_to_sentinels() {
    let deployment = Deployment::start();
    let user = ["acl", "setuser", "swarm", "on", ">secret", "~swarm:*", "-@all"];
    let data = ["+@hash", "+@list", "+@sortedset", "+@stream", "+@string"];
    let rest = ["+eval", "+evalsha", "+time", "+ping", "+role"];
    assert_eq!(deployment.primary.cli(&[&user[..], &data, &rest].concat()).trim(), "OK");
    let url = deployment.url("").replace("://", "://swarm:secret@");
    let store = RedisStore::connect(&url).await.unwrap();
    walk(&store, || ()).await;
    let connections = deployment.primary.cli(&["client", "list", "type", "normal"]);
    assert!(connections.contains("user=swarm"), "{connections}");
}

/// The primary's name.
const NAME: &str = "swarm";

/// A primary with two replicas, and three sentinels with a quorum of two.
struct Deployment {
    primary: Server,
    replicas: [Server; 2],
    sentinels: Vec<Server>,
    _folder: TempDir,
}

impl Deployment {
    fn start() -> Self {
        let (primary, replicas) = (Server::start(&[]), [(); 2].map(|()| Server::start(&[])));
        replicas.iter().for_each(|replica| replica.replicate_from(primary.port));
        let folder = tempfile::tempdir().unwrap();
        let sentinel = |number| {
            let file = folder.path().join(format!("{number}.conf"));
            let lines = format!(
                "sentinel monitor {NAME} 127.0.0.1 {} 2\n\
                 sentinel down-after-milliseconds {NAME} 500\n\
                 sentinel failover-timeout {NAME} 3000\n",
                primary.port
            );
            fs::write(&file, lines).unwrap();
            let file = file.to_str().unwrap();
            Server::start_in(&[("SWARM_TEST_SENTINEL", file)], &["--sentinel"])
        };
        let sentinels: Vec<Server> = (0..3).map(sentinel).collect();
        for sentinel in &sentinels {
            wait_until("the sentinels know of each other", || {
                let known = sentinel.cli(&["sentinel", "master", NAME]);
                known.contains("num-slaves\n2\n") && known.contains("num-other-sentinels\n2\n")
            });
        }
        Self { primary, replicas, sentinels, _folder: folder }
    }

    fn url(&self, options: &str) -> String {
        let hosts = self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port));
        format!("redis-sentinel://{}/{NAME}{options}", hosts.collect::<Vec<_>>().join(","))
    }

    /// The replica that is the primary now.
    fn promoted(&self) -> &Server {
        let is_primary = |server: &&Server| server.cli(&["role"]).starts_with("master");
        self.replicas.iter().find(is_primary).unwrap()
    }
}

/// A session, and judged takes for it, one per member, that are not filed yet.
async fn prepare(store: &Records, count: usize) -> (Arc<Session>, Vec<Arc<Filing>>) {
    let session = store.convene(&draft("subject")).await.unwrap();
    let mut filings = Vec::new();
    for number in 0..count {
        let author = joined(store, &format!("member {number}")).await;
        filings.push(Arc::new(judged(store, &author, &session, &nonce(number)).await));
    }
    (session, filings)
}

fn nonce(number: usize) -> String {
    format!("nonce {number:03}")
}

/// Concurrent filers; each retries a filing until it is acknowledged.
struct Load {
    filers: JoinSet<()>,
    acknowledged: Arc<AtomicUsize>,
}

impl Load {
    fn start(store: &RedisStore, filings: &[Arc<Filing>]) -> Self {
        let (mut filers, acknowledged) = (JoinSet::new(), Arc::<AtomicUsize>::default());
        for filings in filings.chunks(filings.len() / 4) {
            let (store, filings) = (open(store), filings.to_vec());
            let acknowledged = Arc::clone(&acknowledged);
            filers.spawn(async move {
                for filing in filings {
                    while !is_filed(&store, &filing).await {
                        sleep(Duration::from_millis(50)).await;
                    }
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self { filers, acknowledged }
    }

    /// Waits until at least this many are acknowledged.
    async fn counts(&self, acknowledged: usize) {
        let waited = timeout(10 * BOUND, async {
            while self.acknowledged.load(Ordering::SeqCst) < acknowledged {
                sleep(Duration::from_millis(1)).await;
            }
        });
        waited.await.unwrap();
    }

    /// Waits until all are acknowledged.
    async fn end(self) {
        timeout(10 * BOUND, self.filers.join_all()).await.unwrap();
    }
}

/// Whether it is acknowledged, in time.
async fn is_filed(store: &Records, filing: &Filing) -> bool {
    match timeout(BOUND, store.file(filing)).await.unwrap() {
        Ok(Filed::Filed(..)) => true,
        Ok(other) => panic!("{other:?}"),
        Err(_) => false,
    }
}
