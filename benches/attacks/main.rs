//! Latency of honest clients during attacks: `swarm serve` on one core, all clients on another. Two
//! clients file takes and read a session at a steady pace, before and during each attack. Prints the
//! medians of the rounds and of their ratios, and the peak memory of the server.
//!
//! An argument selects attacks by a part of their name. `SWARM_PROGRAM` names another binary to measure.
#![allow(unreachable_pub, reason = "its modules are its own")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

mod attacks;
mod strangers;

use std::cell::Cell;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use hyper::StatusCode;
use swarm_benches::LONGEST;
use swarm_benches::shipped::load;
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{World, program};
use swarm_redis_testing::Server;

use attacks::Attack;

const ROUNDS: usize = 3;

/// Takes in a measurement, each of another member, and reads at the same time.
const REQUESTS: usize = 400;

/// Interval between requests.
const PACE: Duration = Duration::from_millis(10);

/// The duration of an attack before measuring begins.
const WARM: Duration = Duration::from_secs(1);

/// A measurement; it uses up sessions.
struct Target {
    world: World,
    sessions: Cell<usize>,
}

/// The 99th percentile of latency, in milliseconds.
#[derive(Clone, Copy)]
struct Waits {
    take: f64,
    read: f64,
}

fn main() {
    stay_on(OTHER);
    let program = program();
    let memory = Target::new(&program, "memory", Stdio::null());

    println!("{:<44} {:^25} {:^25}", "latency, 99th percentile (ms)", "take", "read");
    println!(
        "{:<44} {:>8}{:>8}{:>9} {:>8}{:>8}{:>9} {:>9} {:>8}",
        "", "before", "during", "ratio", "before", "during", "ratio", "sent/s", "peak MiB"
    );
    for attack in Attack::ALL.into_iter().filter(|attack| is_wanted(attack.name())) {
        measure(attack.name(), &memory, &memory, Some(attack));
    }
    if is_wanted(UNREAD_LOGS) {
        unread_logs(&program, &memory);
    }
    if is_wanted(ON_REDIS) {
        let redis = Server::start(&["--appendonly", "no"]);
        let on_redis = Target::new(&program, &redis.url(), Stdio::null());
        measure(ON_REDIS, &on_redis, &on_redis, Some(Attack::LargeReads));
    }
}

const UNREAD_LOGS: &str = "the log unread";
const ON_REDIS: &str = "four readers of 4.5 MB, on Redis";

/// Whether this attack is selected by the arguments.
fn is_wanted(name: &str) -> bool {
    let mut named =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).peekable();
    named.peek().is_none() || named.any(|part| name.contains(&part))
}

/// Attacks on the log: on a full disk, closed, or stalled.
fn unread_logs(program: &Path, alone: &Target) {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let (closed, no_reader) = std::io::pipe().expect("a pipe");
    drop(closed);
    let (_stalled, unread) = std::io::pipe().expect("a pipe");
    let logs = [
        ("the log on a full disk", full.into()),
        ("the log closed", no_reader.into()),
        ("the log stalled", Stdio::from(unread)),
    ];
    for (name, log) in logs {
        let target = Target::new(program, "memory", log);
        // More lines than the buffer holds.
        let lines = vec![target.world.get("/healthz", None); 12_000];
        load::send(target.world.server.address, 1, lines, StatusCode::OK);
        measure(name, alone, &target, None);
    }
}

/// Prints the latency of honest clients, in one world without and in the other with the attack.
fn measure(name: &str, alone: &Target, beside: &Target, attack: Option<Attack>) {
    let (mut takes, mut reads, mut rates) =
        ([(); 3].map(|()| Vec::new()), [(); 3].map(|()| Vec::new()), Vec::new());
    beside.world.server.peak();
    for _ in 0..ROUNDS {
        let calm = alone.honest();
        let underway =
            attack.map(|attack| attack.on(&beside.world).begin(beside.world.server.address));
        sleep(WARM);
        let before = underway.as_ref().map_or(0, |underway| underway.sent());
        let crowded = beside.honest();
        let sent = underway.map_or(0, |underway| underway.sent()) - before;
        rates.push(sent as f64 / (PACE * REQUESTS as u32).as_secs_f64());
        for (all, calm, crowded) in
            [(&mut takes, calm.take, crowded.take), (&mut reads, calm.read, crowded.read)]
        {
            for (values, value) in all.iter_mut().zip([calm, crowded, crowded / calm]) {
                values.push(value);
            }
        }
        // Lets the server finish what is queued before the next round.
        sleep(WARM);
    }
    let [take, beside_take, take_ratio] = takes.map(median);
    let [read, beside_read, read_ratio] = reads.map(median);
    println!(
        "{name:<44} {take:>8.2}{beside_take:>8.2}{take_ratio:>9.2} {read:>8.2}{beside_read:>8.2}{read_ratio:>9.2} {:>9.0} {:>8}",
        median(rates),
        beside.world.server.peak() >> 20,
    );
}

impl Target {
    /// With 100 takes in one session, and 4.5 MB in another.
    fn new(program: &Path, store: &str, log: Stdio) -> Self {
        let world = World::with_log(program, store, REQUESTS, SESSIONS, log);
        let small = (0..100).map(|author| world.take(author, SMALL)).collect();
        load::send(world.server.address, 16, small, StatusCode::CREATED);
        let large = (0..REQUESTS).map(|author| world.take_of(LONGEST, author, LARGE)).collect();
        load::send(world.server.address, 16, large, StatusCode::CREATED);
        Self { world, sessions: Cell::default() }
    }

    /// Files takes and reads; returns the latencies.
    fn honest(&self) -> Waits {
        let session = self.sessions.replace(self.sessions.get() + 1);
        let takes = (0..REQUESTS).map(|author| self.world.take(author, session)).collect();
        let reads = vec![self.world.read(SMALL, None); REQUESTS];
        let [takes, reads] = load::send_paced(self.world.server.address, [takes, reads], PACE);
        Waits { take: p99(takes), read: p99(reads) }
    }
}

/// The sessions that are read, and those in which takes are filed.
const SESSIONS: usize = 2 + ROUNDS * (2 * Attack::ALL.len() + 3);
const SMALL: usize = SESSIONS - 1;
const LARGE: usize = SESSIONS - 2;

fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() * 99 / 100).expect("some").as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().expect("some")
}
