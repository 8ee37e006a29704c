//! What proofs cost: with a million entries in each store, how many a second the signer signs, how long it takes to
//! make the proof of a take, and how much memory both need; and the processor time that the signer, and receipts, add
//! to filing in memory.
//!
//! The argument is another number of entries. Starts `redis-server` and PostgreSQL. Takes have write-ups of 100
//! characters, and one entry in ten is not of a take.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::fs;
use std::time::{Duration, Instant};

use swarm_benches::{SESSIONS, SignedTakes, long_log, shipped};
use swarm_core::audit::content_digest;
use swarm_core::domain::{TakeId, TenantId};
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::service::signed_log::{LogSigner, SignedLog, Signing};
use swarm_core::store::Store;
use swarm_core::{Swarm, SystemEntropy, Tenant};
use swarm_store_memory::MemoryStore;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;

/// Proofs that are made of each log.
const PROOFS: u64 = 2_000;

/// Rounds of filing, and of signing what was filed.
const ROUNDS: usize = 21;

fn main() {
    println!("signatures: {}", swarm_benches::signature_backend());
    let entries = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let runtime = Runtime::new().expect("a runtime");
    filing(&runtime);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let sqlite = SqliteStore::open(folder.path().join("swarm.db")).expect("a file");
    runtime.block_on(measure("SQLite", &sqlite, entries));
    let server = swarm_redis_testing::Server::start(&[]);
    let redis = runtime.block_on(RedisStore::connect(&server.url())).expect("it answers");
    runtime.block_on(measure("Redis", &redis, entries));
    drop((redis, server));
    let server = swarm_postgres_testing::Server::start(&[]);
    let postgres = runtime.block_on(PostgresStore::create(&server.url())).expect("it answers");
    runtime.block_on(measure("PostgreSQL", &postgres, entries));
    drop((postgres, server));
    runtime.block_on(measure("memory", &MemoryStore::new(), entries));
}

/// Signs a long log, and makes proofs of takes all over it.
async fn measure(name: &str, store: &Store, entries: u64) {
    let id = TenantId::parse("long").expect("a tenant id");
    long_log::restore(store, &id, entries).await;
    let tenant = Swarm::new(store.clone(), SystemEntropy).tenant(&id);
    let log = signed_log(&tenant);

    let signing = Peak::begin();
    let start = Instant::now();
    sign(&log).await;
    let rate = entries as f64 / start.elapsed().as_secs_f64();
    println!("{name}: {rate:.0} entries a second signed, with {} MiB more", signing.mebibytes());

    let proving = Peak::begin();
    let takes = long_log::takes(entries);
    let mut times = Vec::new();
    for number in 0..PROOFS {
        // A prime, so that they are scattered.
        let take = TakeId(number * 7_368_787 % takes + 1);
        let start = Instant::now();
        let proof = log.proof_of_take(take).await.expect("it answers");
        times.push(start.elapsed());
        assert!(proof.is_some(), "it is signed");
    }
    times.sort();
    let at = |share: f64| {
        let place = (share * (times.len() - 1) as f64) as usize;
        times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    println!(
        "{name}: a proof takes {:.2} ms (99 of 100: {:.2}, all: {:.2}), with {} MiB more",
        at(0.5),
        at(0.99),
        at(1.0),
        proving.mebibytes()
    );
}

/// The processor time of filing, of signing what was filed, and of signing each answer.
fn filing(runtime: &Runtime) {
    let takes = SignedTakes::new(1);
    let rounds = std::array::from_fn::<_, ROUNDS, _>(|_| {
        let fixture = takes.fixture();
        let log = signed_log(fixture.tenant());
        runtime.block_on(sign(&log));
        let start = used();
        takes.file(&fixture, SESSIONS);
        let filed = used();
        runtime.block_on(sign(&log));
        let signed = used();
        for take in &takes.takes {
            runtime.block_on(receipt(&log, take.draft().body.as_str()));
        }
        [filed - start, signed - filed, used() - signed]
    });
    let micros = |side: usize| {
        let each = rounds.map(|round| round.get(side).map_or(0.0, Duration::as_secs_f64));
        shipped::spread(each)[1] * 1e6 / SESSIONS as f64
    };
    let [filing, signing, receipts] = [micros(0), micros(1), micros(2)];
    println!(
        "memory: {filing:.1} µs of processor time to file a take, {signing:.1} µs to sign it afterwards: {:.3}",
        signing / filing
    );
    println!("memory: {receipts:.1} µs to sign the answer: {:.3}", receipts / filing);
}

/// What a receipt costs beside the answer: the digests of both bodies, the key, and a signature.
async fn receipt(log: &SignedLog, sent: &str) {
    let digests = [sent, "answer"].map(|body| content_digest(body.as_bytes())).concat();
    let key = log.answer_key().await.expect("it answers").expect("it is this server's");
    std::hint::black_box(key.sign_bytes(digests.as_bytes()));
}

fn signed_log(tenant: &Tenant) -> SignedLog {
    let signer = LogSigner::without_memory(ServerSecret::new([7; 32]));
    tenant.signed_log("localhost", &signer).expect("a host")
}

async fn sign(log: &SignedLog) {
    let signing = log.sign().await.expect("it answers");
    assert!(matches!(signing, Signing::Signed(_)), "{signing:?}");
}

/// The processor time of this process.
fn used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("it is positive")
}

/// The memory that this process needs in addition for a while.
struct Peak {
    before: usize,
}

impl Peak {
    /// Begins to measure.
    fn begin() -> Self {
        // The peak begins anew.
        fs::write("/proc/self/clear_refs", "5").expect("proc");
        Self { before: kibibytes("VmRSS:") }
    }

    fn mebibytes(&self) -> usize {
        kibibytes("VmHWM:").saturating_sub(self.before) / 1_024
    }
}

fn kibibytes(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("proc");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("it has memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
