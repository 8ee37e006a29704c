//! Takes a second into every store, of one author alone and of 64 at once: memory, a SQLite file, and Redis and
//! PostgreSQL servers that the benchmark starts on the same cores, each as it keeps what it acknowledges.
//!
//! Signing and setup are not measured.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use swarm_benches::takes_a_second;
use swarm_core::store::Store;
use swarm_store_memory::MemoryStore;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tokio::runtime::Runtime;

/// The number of authors that file at the same time.
const MANY: u8 = 64;

fn main() {
    println!("signatures: {}", swarm_benches::signature_backend());
    let runtime = Runtime::new().expect("a runtime");
    let memory = measure(&runtime, "memory", &MemoryStore::new(), None);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let sqlite = SqliteStore::open(folder.path().join("swarm.db")).expect("a file");
    measure(&runtime, "SQLite", &sqlite, Some(memory));
    let server = swarm_redis_testing::Server::start(&[]);
    let redis = runtime.block_on(RedisStore::connect(&server.url())).expect("it answers");
    measure(&runtime, "Redis", &redis, Some(memory));
    let server = swarm_postgres_testing::Server::start(&[]);
    let postgres = runtime.block_on(PostgresStore::create(&server.url())).expect("it answers");
    measure(&runtime, "PostgreSQL", &postgres, Some(memory));
}

/// Prints and returns the takes a second of one author, and of many at once.
fn measure(runtime: &Runtime, name: &str, store: &Store, memory: Option<[f64; 2]>) -> [f64; 2] {
    let [one, many] = [1, MANY].map(|authors| takes_a_second(runtime, store, authors));
    println!("{name}: {one:.0} takes a second of one author, {many:.0} of {MANY} at once");
    if let Some([one_in_memory, many_in_memory]) = memory {
        let (one, many) = (one / one_in_memory, many / many_in_memory);
        println!("{name}: {one:.3} and {many:.3} of those in memory");
    }
    [one, many]
}
