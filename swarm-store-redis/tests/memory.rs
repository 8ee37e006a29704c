//! What a take costs in memory: the number that `README.md` gives.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod servers;
mod world;

use swarm_core::store::Filed;
use swarm_store_redis::RedisStore;

use servers::Server;
use world::{Author, draft, open};

/// With ids and nonces as long as UUIDs, and a body of 48 characters.
#[tokio::test(flavor = "multi_thread")]
async fn a_take_costs_less_than_a_kibibyte_beside_its_body() {
    const MEMBERS: usize = 200;
    const SESSIONS: usize = 50;
    let server = Server::start(&["--appendonly", "no"]);
    let store = open(&RedisStore::connect(&server.url()).await.unwrap());
    let mut authors = Vec::new();
    for number in 0..MEMBERS {
        authors.push(Author::joined(&*store, &format!("{number:036}")).await);
    }
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        sessions.push(store.convene(&draft(&format!("subject {number}"))).await.unwrap());
    }
    let before = used(&server);
    for (place, session) in sessions.iter().enumerate() {
        for author in &authors {
            let filing = author.judged(&*store, session, &format!("{place:036}")).await;
            assert!(matches!(store.file(&filing).await.unwrap(), Filed::Filed(_)));
        }
    }
    let each = (used(&server) - before) / (MEMBERS * SESSIONS);
    println!("{each} bytes for each of {} takes", MEMBERS * SESSIONS);
    for key in ["takes", "nonces", "revisions", "session:1:takes"] {
        let key = format!("swarm:{{acme}}:{key}");
        println!("{key}: {}", server.cli(&["memory", "usage", &key, "samples", "0"]).trim());
    }
    assert!((500..1_024).contains(&each), "{each}");
}

fn used(server: &Server) -> usize {
    let info = server.cli(&["info", "memory"]);
    let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    line.trim().parse().unwrap()
}
