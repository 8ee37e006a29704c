//! Recorded histories, as Jepsen records them: two servers on one store, clients that send random requests to both
//! ([`workload`]), and a [`nemesis`] that kills servers and the store with SIGKILL meanwhile. Afterwards every answer is
//! checked against the log of the store ([`checks`]).
//!
//! A short history on SQLite is part of the first tier; `./check histories 60` records longer ones on each store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test panics, reads the clock, and has its modules for itself"
)]

mod checks;
mod client;
mod final_state;
mod history;
mod nemesis;
mod nightly;
mod servers;
mod tampering;
mod timeline;
mod workload;

use std::time::Duration;

use final_state::FinalState;
use servers::{Servers, Store};
pub use workload::Random;

#[test]
fn history_on_sqlite_is_consistent() {
    run(Store::sqlite());
}

/// Records a history and checks it; then checks that the checks would have found faults in it.
fn run(store: Store) {
    let seconds = std::env::var("SWARM_HISTORIES").ok();
    let seconds = seconds.map_or(5, |text| text.parse().expect("a number of seconds"));
    let servers = Servers::start(store);
    let history = workload::record(&servers, Duration::from_secs(seconds));
    let state = FinalState::read(&servers);
    println!("{}", history.summary());
    let faults = checks::check(&state, &history);
    let first = &faults[..faults.len().min(40)];
    assert!(
        faults.is_empty(),
        "{} faults, the first:\n{}\nwarnings of the servers:\n{}",
        faults.len(),
        first.join("\n"),
        servers.warnings()
    );
    tampering::every_fault_is_found(&state, &history);
}
