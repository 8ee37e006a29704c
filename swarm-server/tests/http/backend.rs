//! Backends: tests that use only HTTP run on every store.

use std::sync::{Arc, LazyLock};
use swarm_core::store::Store;

use swarm_postgres_testing::Server as Postgres;
use swarm_redis_testing::Server as Redis;
use swarm_store_postgres::PostgresStore;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::clock::Clock;
use crate::harness::Server;

/// Generates a test per backend from functions that take a [`Backend`]: in the first tier on memory and on SQLite, the
/// default store of the server, in the nightly tier on PostgreSQL and Redis. A function that is not listed is unused,
/// which a lint reports.
macro_rules! on_every_store {
    ($($test:ident),* $(,)?) => {
        mod on_memory {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::memory()) })*
        }
        mod on_sqlite {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::sqlite()) })*
        }
        mod nightly_on_postgres {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::postgres()) })*
        }
        mod nightly_on_redis {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::redis()) })*
        }
    };
}
pub(crate) use on_every_store;

/// Moves these tests to the nightly tier.
macro_rules! nightly {
    ($($test:ident),* $(,)?) => {
        mod nightly {
            $(#[test] fn $test() { super::$test() })*
        }
    };
}
pub(crate) use nightly;

/// The name of the SQLite file in its folder.
pub const FILE: &str = "swarm.db";

/// An empty store, and its clock.
#[derive(Clone)]
pub struct Backend {
    pub clock: Clock,
    pub store: Store,
    /// The Redis server of the store, if any; stopped when the last clone is dropped.
    pub redis: Option<Arc<Redis>>,
    /// The folder of the SQLite file, if any; removed when the last clone is dropped.
    pub folder: Option<Arc<TempDir>>,
    /// The address of the PostgreSQL schema of the store, if any.
    pub postgres: Option<String>,
    /// Opens the store as another process would.
    open: Arc<dyn Fn() -> Store + Send + Sync>,
}

impl Backend {
    pub fn memory() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        Self::opened(clock, store.clone().into(), move || store.opened_again().into())
    }

    /// A store that neither a Redis server nor a folder belongs to.
    pub fn within(clock: Clock, store: Store) -> Self {
        Self::opened(clock, store.clone(), move || store.clone())
    }

    fn opened(
        clock: Clock,
        store: Store,
        open: impl Fn() -> Store + Send + Sync + 'static,
    ) -> Self {
        Self { clock, store, redis: None, folder: None, postgres: None, open: Arc::new(open) }
    }

    /// The store as another process would open it.
    pub fn opened_again(&self) -> Store {
        (self.open)()
    }

    pub fn sqlite() -> Self {
        let (clock, folder) = (Clock::of_programs(), tempfile::tempdir().unwrap());
        let (hands, file) = (clock.clone(), folder.path().join(FILE));
        let open = move || -> Store {
            let hands = hands.clone();
            SqliteStore::open_with_clock(&file, move || hands.now()).unwrap().into()
        };
        Self { folder: Some(Arc::new(folder)), ..Self::opened(clock, open(), open) }
    }

    /// A schema of its own in a server that all tests share.
    pub fn postgres() -> Self {
        let url = POSTGRES.url();
        let (connected, postgres) = (url.clone(), Some(url.clone()));
        let open = move || -> Store { now(PostgresStore::create(&connected)).unwrap().into() };
        let store = open();
        let clock = Clock::followed_by(move |now| POSTGRES.set_clock(&url, now));
        Self { postgres, ..Self::opened(clock, store, open) }
    }

    /// A Redis server of its own, without persistence.
    pub fn redis() -> Self {
        let clock = Clock::of_programs();
        let redis = Redis::start_in(&clock.environment(), &["--appendonly", "no"]);
        let url = redis.url();
        let open = move || -> Store { connect(&url).into() };
        Self { redis: Some(Arc::new(redis)), ..Self::opened(clock, open(), open) }
    }

    /// What the store keeps outside of this process: the files of SQLite, the values of all keys of Redis.
    pub fn kept(&self) -> Vec<u8> {
        if let Some(folder) = &self.folder {
            let files = std::fs::read_dir(folder.path()).unwrap();
            return files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        }
        let Some(redis) = &self.redis else { return Vec::new() };
        let value = |key: &str| match redis.cli(&["TYPE", key]).trim() {
            "hash" => redis.cli(&["HGETALL", key]),
            "list" => redis.cli(&["LRANGE", key, "0", "-1"]),
            "zset" => redis.cli(&["ZRANGE", key, "0", "-1"]),
            _ => redis.cli(&["GET", key]),
        };
        redis.cli(&["KEYS", "*"]).lines().map(value).collect::<String>().into_bytes()
    }

    /// One tenant on every host.
    pub fn serve(&self) -> Server {
        Server::on(self.store.clone())
    }
}

/// The server that all tests share, each with a schema of its own.
pub static POSTGRES: LazyLock<Postgres> = LazyLock::new(|| Postgres::start(&[]));

pub fn connect(url: &str) -> RedisStore {
    now(RedisStore::connect(url)).unwrap()
}

/// Blocks on a future, also on a thread of a server's runtime.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| RUNTIME.block_on(future))
}

/// The runtime of connections to stores.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});
