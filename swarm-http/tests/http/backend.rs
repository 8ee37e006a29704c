//! The stores that a server stands on: what speaks only HTTP is tested on each of them.

#[path = "../../../swarm-store-redis/tests/proxy/mod.rs"]
pub mod proxy;
#[path = "../../../swarm-store-redis/tests/servers/mod.rs"]
pub mod servers;

use std::sync::{Arc, LazyLock};

use swarm_core::{CommitteeTenants, Tenants};
use swarm_store_redis::RedisStore;
use tokio::runtime::Runtime;

use crate::clock::Clock;
use crate::harness::Server;

/// Makes of functions that are given a [`Backend`] a test on each; one that is not listed here is
/// not used, and the lints say so.
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod on_memory {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::memory()) })*
        }
        mod on_redis {
            $(#[test] fn $test() { super::$test(&$crate::backend::Backend::redis()) })*
        }
    };
}
pub(crate) use on_both;

/// What keeps both interfaces.
pub trait Both: Tenants + CommitteeTenants {}

impl<T: Tenants + CommitteeTenants> Both for T {}

pub type AnyStore = Arc<dyn Both>;

/// A store with nothing in it, and the clock that it goes by.
#[derive(Clone)]
pub struct Backend {
    pub clock: Clock,
    pub store: AnyStore,
    /// What holds the store, where this process does not; until the last of these is dropped.
    pub redis: Option<Arc<servers::Server>>,
}

impl Backend {
    pub fn memory() -> Self {
        let clock = Clock::noon();
        Self { store: Arc::new(clock.store()), clock, redis: None }
    }

    /// On a Redis of its own, which does not wait for its disk: it is not to come back.
    pub fn redis() -> Self {
        let clock = Clock::of_programs();
        let redis = servers::Server::start_in(&clock.environment(), &["--appendonly", "no"]);
        Self { clock, store: Arc::new(connect(&redis.url())), redis: Some(Arc::new(redis)) }
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
