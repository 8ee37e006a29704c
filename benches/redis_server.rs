//! Processor time of `redis-server` for the commit of a take, against a script that does nothing with the
//! same number and size of keys and arguments, sent the same way; and reads from connections per take.
//! Starts `redis-server` from the `PATH`; prints medians of alternating rounds.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

mod nothing;

use std::sync::Arc;
use std::time::Duration;

use swarm_benches::{Fixture, SignedTakes};
use swarm_core::rules::Filing;
use swarm_redis_testing::Server;
use swarm_store_redis::RedisStore;
use tokio::task::JoinSet;

const ROUNDS: usize = 7;

/// Takes per author and round.
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
            let fixture = Arc::new(fixture(&store, &tenant, &signed).await);
            let filings = judged(&fixture, &signed).await;
            let (start, first) = (used(&server), server.reads());
            at_once(&filings, |filing| commit(Arc::clone(&fixture), filing)).await;
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

async fn fixture(store: &RedisStore, tenant: &str, signed: &[SignedTakes]) -> Fixture {
    let authors: Vec<_> = signed.iter().map(|signed| &signed.author).collect();
    Fixture::set_up(store, tenant, &authors).await
}

/// The first takes of each author, judged.
async fn judged(fixture: &Fixture, signed: &[SignedTakes]) -> Vec<Vec<Arc<Filing>>> {
    let mut filings = Vec::new();
    for SignedTakes { author, takes } in signed {
        let mut own = Vec::new();
        for take in takes.iter().take(TAKES) {
            own.push(Arc::new(fixture.judged(author, take).await));
        }
        filings.push(own);
    }
    filings
}

/// Sends the takes of each author one after another, all authors at the same time.
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

async fn commit(fixture: Arc<Fixture>, filing: Arc<Filing>) {
    fixture.commit(&filing).await;
}

/// The processor time of a server so far.
fn used(server: &Server) -> Duration {
    let id = server.process();
    let path = format!("/proc/{id}/task/{id}/schedstat");
    let line = std::fs::read_to_string(path).expect("it runs");
    let nanoseconds = line.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// The medians per take, of the time in microseconds and of the reads.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn each(rounds: &[(Duration, u64)], count: usize) -> (f64, f64) {
    let median = |mut of_rounds: Vec<f64>| {
        of_rounds.sort_unstable_by(f64::total_cmp);
        of_rounds[of_rounds.len() / 2] / count as f64
    };
    let times = rounds.iter().map(|(time, _)| time.as_secs_f64() * 1e6);
    (median(times.collect()), median(rounds.iter().map(|(_, reads)| *reads as f64).collect()))
}
