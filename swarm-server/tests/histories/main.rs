//! Recorded histories: two servers on one store, clients that do random things through either, servers that
//! are killed and started again. Afterwards each answer is held to the log of the store: see [`checks`].
//!
//! A short history is part of the tests; `./check histories 60` records longer ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test panics, reads the clock, and has its modules for itself"
)]

mod anomalies;
mod checks;
mod client;
mod desk;
mod history;
mod servers;
mod timeline;

use std::time::Duration;

use servers::{Servers, Store};

#[test]
fn history_on_sqlite_is_consistent() {
    run(Store::sqlite());
}

#[test]
fn history_on_redis_is_consistent() {
    run(Store::redis());
}

/// Records a history, and checks it.
fn run(store: Store) {
    let seconds = std::env::var("SWARM_HISTORIES").ok();
    let seconds = seconds.map_or(5, |text| text.parse().expect("a number of seconds"));
    let servers = Servers::start(store);
    let history = desk::record(&servers, Duration::from_secs(seconds));
    let faults = checks::check(&servers, &history);
    println!("{}", history.summary());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(history.is_eventful(), "hardly anything happened");
}
