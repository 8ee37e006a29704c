//! The conformance suite of backends, on tables of its own: one server, which each case may kill.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, Mutex};

use swarm_core::Timestamp;
use swarm_core::store::backend::Backend;
use swarm_redis_testing::{ProgramClock, Server};
use swarm_store_redis::RedisBackend;
use swarm_testing::backend::TABLES;

async fn connect(url: &str) -> Arc<dyn Backend> {
    Arc::new(RedisBackend::connect(url, TABLES).await.unwrap())
}

async fn on_a_server() -> (Server, Arc<dyn Backend>) {
    let server = Server::start(&[]);
    let backend = connect(&server.url()).await;
    (server, backend)
}

swarm_testing::backend_conformance!(on_a_server);

async fn that_is_killed() -> (Mutex<Server>, Arc<dyn Backend>) {
    let server = Server::start(&[]);
    let backend = connect(&server.url()).await;
    (Mutex::new(server), backend)
}

async fn killed(server: &Mutex<Server>) -> Arc<dyn Backend> {
    let url = {
        let mut server = server.lock().unwrap();
        server.stop();
        server.resume();
        server.url()
    };
    connect(&url).await
}

swarm_testing::backend_conformance!(durability that_is_killed, killed);

async fn with_a_clock() -> ((Server, ProgramClock), Arc<dyn Backend>) {
    let clock = ProgramClock::at(0);
    let server = Server::start_in(&clock.environment(), &[]);
    let backend = connect(&server.url()).await;
    ((server, clock), backend)
}

fn set((_, clock): &(Server, ProgramClock), now: Timestamp) {
    clock.set(now.millis());
}

swarm_testing::backend_conformance!(clock with_a_clock, set);

async fn two_connected() -> (Server, Vec<Arc<dyn Backend>>) {
    let server = Server::start(&["--appendonly", "no"]);
    let backends = vec![connect(&server.url()).await, connect(&server.url()).await];
    (server, backends)
}

swarm_testing::backend_conformance!(feed two_connected);
