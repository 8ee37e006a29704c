//! Latency of honest clients during attacks: `swarm serve` on one core, all clients on another. Two
//! clients file takes and read a session at a steady pace, before and during each attack. Prints the
//! medians of the rounds and of their ratios, and the peak memory of the server.
//!
//! Each public path of the API description is an attack too: 32 readers in many spellings. So is each route that takes a body: 32
//! clients that send large ones, as the table of routes has them. Their budgets are [`BUDGET`] and, for operators of another tenant, [`OPERATORS_BUDGET`].
//! The memory that is kept is what the server has more, six seconds after an attack, than before it. [`HostileInput`] is measured
//! by its memory alone.
//!
//! What is over its budget is measured again, and fails the benchmark if it is over it again.
//!
//! An argument selects attacks by a part of their name. `SWARM_PROGRAM` names another binary to measure; otherwise the one of the profile
//! `dist` is built first, which takes twenty minutes on two cores. Nothing else may run meanwhile: half an hour on a quiet machine.
#![allow(unreachable_pub, reason = "its modules are its own")]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, clippy::panic, reason = "a benchmark that cannot be set up panics")]

mod attacks;
mod bodies;
mod desk;
mod memory;
mod paths;
mod strangers;

use std::cell::Cell;
use std::fs::File;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use swarm_benches::LONGEST;
use swarm_benches::shipped::load;
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{ServerFixture, program};
use swarm_postgres_testing::Server as Postgres;
use swarm_redis_testing::Server as Redis;

use attacks::Attack;
use memory::HostileInput;
use paths::PathAttack;
use strangers::Strangers;

/// Of the 99th percentile of takes beside readers of a public path, in that alone.
const BUDGET: f64 = 2.0;

/// The budget beside those who follow the log.
const FOLLOWERS_BUDGET: f64 = 1.2;

/// The budget beside bodies that operators of another tenant send.
const OPERATORS_BUDGET: f64 = 3.0;

/// How long a server has to give back memory.
const GIVES_BACK: Duration = Duration::from_secs(6);

/// How much is measured: takes in a measurement, and as many reads at the same time.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    requests: usize,
    /// Interval between requests.
    pace: Duration,
    /// Whether the memory that the server keeps is measured too.
    waits_for_memory: bool,
}

/// For an attack.
const LONG: Effort =
    Effort { rounds: 3, requests: 400, pace: Duration::from_millis(10), waits_for_memory: true };

/// For one of a hundred paths.
const SHORT: Effort =
    Effort { rounds: 1, requests: 1_000, pace: Duration::from_millis(2), waits_for_memory: false };

/// Takes of a member in a session.
const REVISIONS: usize = 5;

/// The duration of an attack before measuring begins.
const WARM: Duration = Duration::from_secs(1);

/// A server to measure. Its first sessions are used up by measurements.
struct Target {
    fixture: ServerFixture,
    /// The session that is read, by number.
    small: usize,
    /// Takes filed so far.
    filed: Cell<usize>,
}

/// The 99th percentile of latency, in milliseconds.
#[derive(Clone, Copy)]
struct Waits {
    take: f64,
    read: f64,
}

/// What was measured of an attack.
struct Measured {
    /// The 99th percentile of takes, in that alone.
    ratio: f64,
    /// The memory that the server kept, in MiB.
    kept: usize,
}

fn main() -> ExitCode {
    stay_on(OTHER);
    // What is missing fails before the program is built, which takes long.
    if is_wanted(ON_REDIS) {
        drop(Redis::start(&["--appendonly", "no"]));
    }
    if is_wanted(ON_POSTGRES) {
        drop(Postgres::start(&[]));
    }
    let program = program();
    println!("{:<44} {:^25} {:^25}", "latency, 99th percentile (ms)", "take", "read");
    println!(
        "{:<44} {:>8}{:>8}{:>9} {:>8}{:>8}{:>9} {:>9} {:>8} {:>8}",
        "",
        "before",
        "during",
        "ratio",
        "before",
        "during",
        "ratio",
        "sent/s",
        "peak MiB",
        "kept MiB"
    );
    let mut over = Vec::new();
    if Attack::ALL.into_iter().any(|attack| is_wanted(attack.name())) || is_wanted(UNREAD_LOGS) {
        over.extend(attacks(&program));
    }
    over.extend(on_servers(&program));
    over.extend(inputs(&program));
    over.extend(paths(&program));
    println!("over the budget: {over:?}");
    if over.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures the attacks on a server in memory; returns those that are over their budgets.
fn attacks(program: &Path) -> Vec<String> {
    let memory = Target::new(program, "memory", Stdio::null());
    let mut over = Vec::new();
    for attack in Attack::ALL.into_iter().filter(|attack| is_wanted(attack.name())) {
        let is_over = || {
            let begin = || Some(attack.on(&memory.fixture));
            let measured = measure(attack.name(), LONG, (&memory, &memory), begin);
            measured.ratio > attack.budget() || measured.kept > attack.kept_budget()
        };
        if is_over() && is_over() {
            over.push(attack.name().to_owned());
        }
    }
    if is_wanted(UNREAD_LOGS) {
        unread_logs(program, &memory);
    }
    over
}

/// Measures attacks on servers whose store is a process of its own.
fn on_servers(program: &Path) -> Vec<String> {
    let mut over = Vec::new();
    let mut on = |name: &str, attack: Attack, url: &str| {
        let target = Target::new(program, url, Stdio::null());
        let is_over = || {
            let begin = || Some(attack.on(&target.fixture));
            measure(name, LONG, (&target, &target), begin).ratio > BUDGET
        };
        if is_over() && is_over() {
            over.push(name.to_owned());
        }
    };
    if is_wanted(ON_REDIS) {
        let redis = Redis::start(&["--appendonly", "no"]);
        on(ON_REDIS, Attack::LargeReads, &redis.url());
    }
    if is_wanted(ON_POSTGRES) {
        let postgres = Postgres::start(&[]);
        on(ON_POSTGRES, Attack::StoreReads, &postgres.url());
    }
    over
}

/// Measures the memory that hostile input takes.
fn inputs(program: &Path) -> Vec<String> {
    let mut over = Vec::new();
    for input in HostileInput::ALL.into_iter().filter(|input| is_wanted(input.name())) {
        let (taken, budget) = (input.taken(program), input.budget());
        println!("{:<60} {taken:>8} MiB, at most {budget}", input.name());
        if taken > budget {
            over.push(input.name().to_owned());
        }
    }
    over
}

/// Measures public paths. One that is over the budget is measured again, longer.
fn paths(program: &Path) -> Vec<String> {
    let mut over = Vec::new();
    let selects_others = Attack::ALL.map(Attack::name).into_iter().any(is_named)
        || HostileInput::ALL.map(HostileInput::name).into_iter().any(is_named)
        || [UNREAD_LOGS, ON_REDIS, ON_POSTGRES].into_iter().any(is_named);
    if selects_others {
        return over;
    }
    let target =
        Target { fixture: desk::open(program), small: desk::SMALL, filed: Cell::default() };
    let mut paths = PathAttack::all(&target.fixture);
    paths.push(PathAttack::of_the_large_tenant(&target.fixture));
    paths.extend(bodies::all(&target.fixture));
    paths.retain(|path| is_wanted(&path.name));
    for path in &paths {
        let measure =
            |effort| measure(&path.name, effort, (&target, &target), || Some(path.clients())).ratio;
        let is_over = |effort| measure(effort) > path.budget;
        if is_over(SHORT) && is_over(Effort { rounds: 3, ..SHORT }) {
            over.push(path.name.clone());
        }
    }
    println!("over the budget: {} of {} paths", over.len(), paths.len());
    over
}

const UNREAD_LOGS: &str = "the log unread";
const ON_REDIS: &str = "four readers of 4.5 MB, on Redis";
const ON_POSTGRES: &str = "480 readers, on PostgreSQL";

/// The parts of names that select attacks.
fn named() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect()
}

/// Returns whether the arguments select this attack: all attacks, if they name none.
fn is_wanted(name: &str) -> bool {
    named().is_empty() || is_named(name)
}

/// Returns whether an argument names this attack.
fn is_named(name: &str) -> bool {
    named().iter().any(|part| name.contains(part))
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
        let lines = vec![target.fixture.get("/healthz", None); 12_000];
        load::send(target.fixture.server.address, 1, lines, StatusCode::OK);
        measure(name, LONG, (alone, &target), || None);
    }
}

/// Prints the latency of honest clients, in one fixture without and in the other with the attack.
fn measure(
    name: &str,
    effort: Effort,
    (alone, beside): (&Target, &Target),
    attack: impl Fn() -> Option<Strangers>,
) -> Measured {
    let (mut takes, mut reads, mut rates) =
        ([(); 3].map(|()| Vec::new()), [(); 3].map(|()| Vec::new()), Vec::new());
    beside.fixture.server.peak();
    let resident = beside.fixture.server.resident();
    for _ in 0..effort.rounds {
        let calm = alone.honest(effort);
        let underway = attack().map(|attack| attack.begin(beside.fixture.server.address));
        if let Some(underway) = &underway {
            underway.wait_for_followers();
        }
        sleep(WARM);
        let (start, before) = (Instant::now(), underway.as_ref().map_or(0, |it| it.sent()));
        let crowded = beside.honest(effort);
        let sent = underway.map_or(0, |underway| underway.sent()) - before;
        rates.push(sent as f64 / start.elapsed().as_secs_f64());
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
    let peak = beside.fixture.server.peak() >> 20;
    let kept = effort.waits_for_memory.then(|| {
        sleep(GIVES_BACK);
        beside.fixture.server.resident().saturating_sub(resident) >> 20
    });
    println!(
        "{name:<44} {take:>8.2}{beside_take:>8.2}{take_ratio:>9.2} {read:>8.2}{beside_read:>8.2}{read_ratio:>9.2} {:>9.0} {peak:>8} {:>8}",
        median(rates),
        kept.map(|kept| kept.to_string()).unwrap_or_default(),
    );
    Measured { ratio: take_ratio, kept: kept.unwrap_or_default() }
}

impl Target {
    /// With 100 takes in one session, and 4.5 MB in another.
    fn new(program: &Path, store: &str, log: Stdio) -> Self {
        let fixture = ServerFixture::with_log(program, store, LONG.requests, SESSIONS, log);
        let small = (0..100).map(|author| fixture.take(author, SMALL)).collect();
        load::send(fixture.server.address, 16, small, StatusCode::CREATED);
        load::send(
            fixture.server.address,
            16,
            fixture.takes_of(LONGEST, LARGE),
            StatusCode::CREATED,
        );
        Self { fixture, small: SMALL, filed: Cell::default() }
    }

    /// Files takes and reads; returns the latencies.
    fn honest(&self, effort: Effort) -> Waits {
        let first = self.filed.replace(self.filed.get() + effort.requests);
        let authors = self.fixture.authors.len();
        let take = |number| self.fixture.take(number % authors, number / (authors * REVISIONS));
        let takes = (first..first + effort.requests).map(take).collect();
        let reads = vec![self.fixture.read(self.small, None); effort.requests];
        let address = self.fixture.server.address;
        let [takes, reads] = load::send_paced(address, [takes, reads], effort.pace);
        Waits { take: p99(takes), read: p99(reads) }
    }
}

/// The sessions that are read, and those in which takes are filed.
const SESSIONS: usize = 2 + LONG.rounds * (4 * Attack::ALL.len() + 6) / REVISIONS;
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
