//! Whether a take costs the same beside many: two servers as they ship get the same takes in turn, one of which has
//! more and more on file, the other few. Said are the median of the ratios of their processor times, and the memory
//! of the first.
//!
//! An argument says how many takes are on file at most, each of which takes some two kilobytes: a million by default.
//! `SWARM_PROGRAM` names another binary to measure than the one of this checkout.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::time::Duration;

use hyper::StatusCode;
use swarm_benches::shipped::load::{self, Clients};
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{World, program, spread};

const MEMBERS: usize = 1_000;

/// How many revisions a member may file in a session.
const REVISIONS: usize = 5;

/// How many times both are measured at each size.
const ROUNDS: usize = 15;

fn main() {
    stay_on(OTHER);
    let most = std::env::args().skip(1).find_map(|most| most.parse().ok()).unwrap_or(1_000_000);
    let sizes = || (3..).map(|power| 10_usize.pow(power)).take_while(|size| *size < most);
    let measured = (sizes().count() + 1) * ROUNDS;
    let mut old = Growing::new(most / MEMBERS + measured);
    println!("{:>10} {:>8} {:>8} {:>8} {:>14}", "on file", "ratio", "from", "to", "bytes a take");
    let empty = old.world.server.peak();
    for size in sizes().chain([most]) {
        while old.filed * MEMBERS < size {
            old.file();
        }
        let memory = old.world.server.peak() - empty;
        let bytes = memory / (old.filed * MEMBERS);
        let mut young = Growing::new(ROUNDS + 1);
        young.file();
        let ratio = |()| old.file().as_secs_f64() / young.file().as_secs_f64();
        let [least, median, greatest] = spread([(); ROUNDS].map(ratio));
        println!("{size:>10} {median:>8.2} {least:>8.2} {greatest:>8.2} {bytes:>14}");
    }
}

/// A server in memory on which each member files again and again.
struct Growing {
    world: World,
    /// How many takes each member has filed.
    filed: usize,
}

impl Growing {
    /// Has room for so many takes of each member.
    fn new(takes: usize) -> Self {
        let sessions = takes.div_ceil(REVISIONS);
        Self { world: World::new(&program(), "memory", MEMBERS, sessions), filed: 0 }
    }

    /// A take of each member; answers what each of them cost.
    fn file(&mut self) -> Duration {
        let session = self.filed / REVISIONS;
        self.filed += 1;
        let takes = self.world.takes(session);
        load::cost(Clients::Awake, &self.world.server, 64, takes, StatusCode::CREATED)
    }
}
