//! What a take costs `redis-server`, whatever its client does: the processor time that it uses for the commit of a
//! take, against a script with as many keys and arguments of the same size that does nothing, sent in the same
//! way; and how many times it reads from its connections for each, which it may do for several of them together. Starts
//! `redis-server` from the `PATH`; says medians of rounds that alternate.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

mod nothing;

use std::sync::Arc;
use std::time::Duration;

use swarm_benches::{SignedTakes, World};
use swarm_core::rules::Filing;
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use tokio::task::JoinSet;

const ROUNDS: usize = 7;

/// How many takes an author files in a round.
const TAKES: usize = 64;

#[tokio::main]
async fn main() {
    println!(
        "\n# redis-server: the commit of a take, against a script of its size that does nothing\n"
    );
    let server = Server::start(&["--appendonly", "no"]);
    let store = RedisStore::connect(&server.url()).await.expect("it answers");
    let client = redis::Client::open(server.url()).expect("an address");
    let connection = client.get_multiplexed_async_connection().await.expect("it answers");
    let record = nothing::record(SignedTakes::new(1).takes.first().expect("takes"));
    for authors in [1, 8, 64] {
        let signed: Vec<_> = (1..=authors).map(SignedTakes::new).collect();
        let (mut commits, mut nothings) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let tenant = format!("{authors}-{round}");
            let world = Arc::new(world(&store, &tenant, &signed).await);
            let filings = judged(&world, &signed).await;
            let (start, first) = (used(&server), server.reads());
            at_once(&filings, |filing| commit(Arc::clone(&world), filing)).await;
            let (between, second) = (used(&server), server.reads());
            at_once(&filings, |_| nothing::call(connection.clone(), record.clone())).await;
            let (end, last) = (used(&server), server.reads());
            commits.push((between - start, second - first));
            nothings.push((end - between, last - second));
        }
        let [(commit, reads), (nothing, others)] =
            [commits, nothings].map(|rounds| each(&rounds, signed.len() * TAKES));
        let ratio = commit / nothing;
        println!(
            "{authors:2} at once: {commit:.1} µs and {reads:.2} reads a take, {nothing:.1} µs and {others:.2} reads nothing: {ratio:.2}"
        );
    }
}

async fn world(store: &RedisStore, tenant: &str, signed: &[SignedTakes]) -> World {
    let authors: Vec<_> = signed.iter().map(|signed| &signed.author).collect();
    World::set_up(store, tenant, &authors).await
}

/// The first takes of each author, judged.
async fn judged(world: &World, signed: &[SignedTakes]) -> Vec<Vec<Arc<Filing>>> {
    let mut filings = Vec::new();
    for SignedTakes { author, takes } in signed {
        let mut own = Vec::new();
        for take in takes.iter().take(TAKES) {
            own.push(Arc::new(world.judged(author, take).await));
        }
        filings.push(own);
    }
    filings
}

/// Sends those of each author one after another, and those of all at once.
async fn at_once<F>(filings: &[Vec<Arc<Filing>>], send: impl Fn(Arc<Filing>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut authors = JoinSet::new();
    for own in filings {
        let calls: Vec<_> = own.iter().map(|filing| send(Arc::clone(filing))).collect();
        authors.spawn(async move {
            for call in calls {
                call.await;
            }
        });
    }
    authors.join_all().await;
}

async fn commit(world: Arc<World>, filing: Arc<Filing>) {
    world.commit(&filing).await;
}

/// The processor time that a server has used.
fn used(server: &Server) -> Duration {
    let id = server.process();
    let path = format!("/proc/{id}/task/{id}/schedstat");
    let line = std::fs::read_to_string(path).expect("it runs");
    let nanoseconds = line.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// The median, in microseconds, of what a round took for each of so many, and that of the reads.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn each(rounds: &[(Duration, u64)], count: usize) -> (f64, f64) {
    let median = |mut of_rounds: Vec<f64>| {
        of_rounds.sort_unstable_by(f64::total_cmp);
        of_rounds[of_rounds.len() / 2] / count as f64
    };
    let times = rounds.iter().map(|(time, _)| time.as_secs_f64() * 1e6);
    (median(times.collect()), median(rounds.iter().map(|(_, reads)| *reads as f64).collect()))
}
