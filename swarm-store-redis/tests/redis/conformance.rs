//! The conformance suites on one server, which each case may kill. `nightly/conformance.rs` runs them with a replica and on
//! a cluster.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::Mutex;
use swarm_core::store::Store;

use swarm_store_redis::RedisStore;

mod on_a_server {
    use super::*;
    use swarm_redis_testing::Server;

    /// A server per case, so that the case can kill it.
    struct Guard(Mutex<Server>);

    impl Guard {
        fn start() -> Self {
            Self(Mutex::new(Server::start(&[])))
        }

        async fn connect(&self) -> Store {
            let url = self.0.lock().unwrap().url();
            RedisStore::connect(&url).await.unwrap().into()
        }

        fn kill(&self) {
            let mut server = self.0.lock().unwrap();
            server.stop();
            server.resume();
        }
    }

    async fn server() -> (Guard, Store) {
        let guard = Guard::start();
        let store = guard.connect().await;
        (guard, store)
    }

    async fn killed(guard: &Guard) -> Store {
        guard.kill();
        guard.connect().await
    }

    swarm_testing::conformance!(server, killed);

    async fn again(guard: &Guard) -> Store {
        guard.connect().await
    }

    /// Copies all keys to another database of the same server.
    async fn back_up(guard: &Guard) {
        let copy = "for _, key in ipairs(redis.call('KEYS', '*')) do
                      redis.call('COPY', key, key, 'DB', '1')
                    end";
        guard.0.lock().unwrap().cli(&["EVAL", copy, "0"]);
    }

    async fn restore(guard: &Guard) {
        let server = guard.0.lock().unwrap();
        server.cli(&["FLUSHDB"]);
        server.cli(&["SWAPDB", "0", "1"]);
    }

    swarm_testing::continuity_conformance!(server, back_up, restore, again);
}

/// A server per case, whose clock the case sets.
mod on_a_server_with_a_clock {
    use swarm_core::Timestamp;
    use swarm_redis_testing::{ProgramClock, Server};

    use super::*;

    async fn server() -> ((Server, ProgramClock), Store) {
        let clock = ProgramClock::at(0);
        let server = Server::start_in(&clock.environment(), &[]);
        let store = RedisStore::connect(&server.url()).await.unwrap();
        ((server, clock), store.into())
    }

    fn set((_, clock): &(Server, ProgramClock), now: Timestamp) {
        clock.set(now.millis());
    }

    swarm_testing::clock_conformance!(server, set);
}
