//! Cost of a take on a server with many tenants: two servers, in memory, get the same takes alternately; one
//! serves one tenant, the other many, each with an open session. Prints the ratios of their processor times,
//! and the cost of idle tenants.
//!
//! The argument is the number of tenants, 10,000 by default. `SWARM_PROGRAM` names another binary to measure.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::thread::sleep;
use std::time::Duration;

use hyper::StatusCode;
use swarm_benches::shipped::load::{self, Clients};
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{ServerFixture, program, spread};

const MEMBERS: usize = 1_000;

/// The number of rounds.
const ROUNDS: usize = 15;

/// The duration of the idle measurement.
const IDLE: Duration = Duration::from_secs(20);

fn main() {
    stay_on(OTHER);
    let tenants = std::env::args().skip(1).find_map(|count| count.parse().ok()).unwrap_or(10_000);
    let program = program();
    let [alone, beside] = [1, tenants].map(|tenants| {
        let fixture = ServerFixture::first_of(&program, tenants, MEMBERS, ROUNDS + 2);
        // Warm up: the first takes are not measured.
        file(&fixture, ROUNDS);
        file(&fixture, ROUNDS + 1);
        fixture
    });
    let ratio =
        |session| file(&beside, session).as_secs_f64() / file(&alone, session).as_secs_f64();
    let [least, median, greatest] = spread::<ROUNDS>(std::array::from_fn(ratio));
    println!("a take with {tenants} tenants / with one: {median:.2} ({least:.2} to {greatest:.2})");
    for (fixture, tenants) in [(&alone, 1), (&beside, tenants)] {
        let before = fixture.server.used();
        sleep(IDLE);
        let share = (fixture.server.used() - before).as_secs_f64() / IDLE.as_secs_f64();
        let memory = fixture.server.peak() >> 20;
        println!("{tenants} tenants: {:.1} % of a core while idle, {memory} MiB", share * 100.0);
    }
}

/// Files a take of each member; returns the processor time of one.
fn file(fixture: &ServerFixture, session: usize) -> Duration {
    load::cost(Clients::Awake, &fixture.server, 64, fixture.takes(session), StatusCode::CREATED)
}
