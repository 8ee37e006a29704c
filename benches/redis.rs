//! Filing on Redis against filing in memory, one take at a time and many at once, with the number of round
//! trips. Starts `redis-server` from the `PATH`.
//!
//! Signing and setup are not in the time. A fixture is replaced when its authors have filed [`SESSIONS`]
//! takes each.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use swarm_core::store::Store;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use swarm_benches::{Fixture, SESSIONS, SignedTakes, group};
use swarm_redis_testing::Server;
use swarm_store_memory::MemoryStore;
use swarm_store_redis::RedisStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

criterion_group! {
    name = redis;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .sample_size(10);
    targets = one_at_a_time, many_at_once
}
criterion_main!(redis);

/// The number of authors that file at the same time.
const MANY: u8 = 64;

fn one_at_a_time(c: &mut Criterion) {
    let mut group = group(
        c,
        "file on redis",
        "submit() on Redis, as it keeps what it acknowledges, against two round trips that do no \
         work, and against submit() in memory",
    );
    let bench = Bench::new(1);
    bench.measure_all(&mut group);
    let fixture = Arc::new(bench.runtime.block_on(bench.volatile.fixture(&bench.signed_takes)));
    group.bench_function("two round trips", |b| {
        b.to_async(&bench.runtime).iter(|| async {
            fixture.ask().await;
            fixture.ask().await;
        });
    });
}

fn many_at_once(c: &mut Criterion) {
    let mut group = group(
        c,
        "64 file on redis",
        "a take of each of 64 authors at once through one connection, on Redis as it keeps what it \
         acknowledges, against memory",
    );
    group.throughput(Throughput::Elements(1));
    Bench::new(MANY).measure_all(&mut group);
}

/// Authors, and stores to file in.
struct Bench {
    signed_takes: Vec<Arc<SignedTakes>>,
    runtime: Runtime,
    memory: Target,
    volatile: Target,
    everysec: Target,
    always: Target,
}

impl Bench {
    fn new(authors: u8) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let memory = Target::new("memory", None, MemoryStore::new());
        let target = |name, options: &[&str]| {
            let server = Server::start(options);
            let store = runtime.block_on(RedisStore::connect(&server.url()));
            Target::new(name, Some(server), store.expect("it answers"))
        };
        let volatile = target("redis, nothing on disk", &["--appendonly", "no"]);
        let everysec = target("redis, appendfsync everysec", &["--appendfsync", "everysec"]);
        let always = target("redis, appendfsync always", &[]);
        let signed_takes = (1..=authors).map(|number| Arc::new(SignedTakes::new(number))).collect();
        Self { signed_takes, runtime, memory, volatile, everysec, always }
    }

    fn measure_all(&self, group: &mut BenchmarkGroup<'_, WallTime>) {
        self.measure(group, &self.memory);
        for target in [&self.volatile, &self.everysec, &self.always] {
            self.measure(group, target);
        }
    }

    /// Measures the cost of a take when all authors file, each one take after another.
    fn measure(&self, group: &mut BenchmarkGroup<'_, WallTime>, target: &Target) {
        let (mut takes, mut trips) = (0, 0);
        group.bench_function(target.name, |b| {
            b.iter_custom(|iters| {
                let (mut spent, mut left) = (Duration::ZERO, iters);
                while left > 0 {
                    let fixture =
                        Arc::new(self.runtime.block_on(target.fixture(&self.signed_takes)));
                    let each = left.div_ceil(self.authors()).min(SESSIONS as u64);
                    let filed = each * self.authors();
                    let before = target.round_trips();
                    let start = Instant::now();
                    self.runtime.block_on(self.file(&fixture, each));
                    // The last round may file more than requested.
                    let asked = left.min(filed);
                    spent += start.elapsed().mul_f64(ratio(asked, filed));
                    // The query itself counts as two reads.
                    trips += (target.round_trips() - before).saturating_sub(2);
                    takes += filed;
                    left -= asked;
                }
                spent
            });
        });
        if target.server.is_some() && takes > 0 {
            println!("{}: {:.3} round trips a take\n", target.name, ratio(trips, takes));
        }
    }

    fn authors(&self) -> u64 {
        self.signed_takes.len() as u64
    }

    /// Has all authors file this many takes.
    async fn file(&self, fixture: &Arc<Fixture>, each: u64) {
        let mut filing = JoinSet::new();
        for signed in &self.signed_takes {
            filing.spawn(file_some(Arc::clone(signed), Arc::clone(fixture), each));
        }
        filing.join_all().await;
    }
}

async fn file_some(signed: Arc<SignedTakes>, fixture: Arc<Fixture>, count: u64) {
    for (take, _) in signed.takes.iter().zip(0..count) {
        fixture.submit(&signed.author, take).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// A store, and the server behind it if there is one.
struct Target {
    name: &'static str,
    server: Option<Server>,
    store: Store,
    fixtures: AtomicU64,
}

impl Target {
    fn new(name: &'static str, server: Option<Server>, store: impl Into<Store>) -> Self {
        Self { name, server, store: store.into(), fixtures: AtomicU64::new(0) }
    }

    async fn fixture(&self, signed_takes: &[Arc<SignedTakes>]) -> Fixture {
        let tenant = format!("fixture-{}", self.fixtures.fetch_add(1, Ordering::Relaxed));
        let authors: Vec<_> = signed_takes.iter().map(|signed| &signed.author).collect();
        Fixture::set_up(&self.store, &tenant, &authors).await
    }

    /// The number of reads of its server from connections.
    fn round_trips(&self) -> u64 {
        self.server.as_ref().map_or(0, Server::reads)
    }
}
