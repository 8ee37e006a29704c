//! The stores that a server stands on: what speaks only HTTP is tested on each of them.

use std::sync::{Arc, LazyLock};

use swarm_core::{CommitteeTenants, Tenants};
use swarm_redis_testing::Server as Redis;
use swarm_store_redis::RedisStore;
use swarm_store_sqlite::SqliteStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::clock::Clock;
use crate::harness::Server;

/// Makes of functions that are given a [`Backend`] a test on each; one that is not listed here is
/// not used, and the lints say so.
macro_rules! on_every_store {
    ($($test:ident),* $(,)?) => {
        mod on_memory {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::memory()) })*
        }
        mod on_sqlite {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::sqlite()) })*
        }
        mod on_redis {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::redis()) })*
        }
    };
}
pub(crate) use on_every_store;

/// What keeps both interfaces.
pub trait BothPorts: Tenants + CommitteeTenants {}

impl<T: Tenants + CommitteeTenants> BothPorts for T {}

pub type AnyStore = Arc<dyn BothPorts>;

/// The file of a store on SQLite, in its folder.
pub const FILE: &str = "swarm.db";

/// A store with nothing in it, and the clock that it goes by.
#[derive(Clone)]
pub struct Backend {
    pub clock: Clock,
    pub store: AnyStore,
    /// What holds the store, where this process does not; until the last of these is dropped.
    pub redis: Option<Arc<Redis>>,
    /// The folder of its file, if it is on SQLite; until the last of these is dropped.
    pub folder: Option<Arc<TempDir>>,
}

impl Backend {
    pub fn memory() -> Self {
        let clock = Clock::noon();
        Self::within(clock.clone(), Arc::new(clock.store()))
    }

    /// On a store that this process holds.
    pub fn within(clock: Clock, store: AnyStore) -> Self {
        Self { clock, store, redis: None, folder: None }
    }

    pub fn sqlite() -> Self {
        let (clock, folder) = (Clock::of_programs(), tempfile::tempdir().unwrap());
        let hands = clock.clone();
        let store = SqliteStore::open_with_clock(folder.path().join(FILE), move || hands.now());
        let within = Self::within(clock, Arc::new(store.unwrap()));
        Self { folder: Some(Arc::new(folder)), ..within }
    }

    /// On a Redis of its own, which does not wait for its disk: it is not to come back.
    pub fn redis() -> Self {
        let clock = Clock::of_programs();
        let redis = Redis::start_in(&clock.environment(), &["--appendonly", "no"]);
        let store = Arc::new(connect(&redis.url()));
        Self { clock, store, redis: Some(Arc::new(redis)), folder: None }
    }

    /// One tenant on every host.
    pub fn serve(&self) -> Server {
        Server::on(Arc::clone(&self.store))
    }
}

pub fn connect(url: &str) -> RedisStore {
    now(RedisStore::connect(url)).unwrap()
}

/// What a future gives, waited for here, amid the work of a server, too.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| RUNTIME.block_on(future))
}

/// Where connections to Redis live.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});
