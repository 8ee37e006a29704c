//! Two builds of `swarm serve` compared: processor time per request of the one that `SWARM_PROGRAM` names (by
//! default this checkout's), divided by that of the one that `SWARM_BASELINE` names. Both get the same requests
//! alternately, with fixtures and stores of their own. Prints the medians of their processor times, and the median,
//! minimum and maximum of the ratios per round. With a database server also the time that passes, which has the work of that
//! server in it. Arguments choose among `memory`, `sqlite`, `redis` and `postgres`.
//!
//! A change that costs a few per cent only shows in such a run: figures of different runs differ by more.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use swarm_benches::shipped::load::{self, Clients, LoadRequest};
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{ServerFixture, program, spread};

/// Members that file a take in each round, and connections.
const MEMBERS: usize = 1_000;
const CONNECTIONS: usize = 64;

/// Measured rounds, and the warm-up round before them.
const ROUNDS: usize = 10;
const WARM_UP: usize = 1;

/// Reads of each kind in a round, of a session with this many takes.
const READS: usize = 5_000;
const TAKES_READ: usize = 100;

/// The session that is read; the rounds file into those before it.
const READ: usize = WARM_UP + ROUNDS;

fn main() {
    let Some(baseline) = std::env::var_os("SWARM_BASELINE").map(PathBuf::from) else {
        println!("NOT MEASURED: SWARM_BASELINE names no build to compare with.");
        return;
    };
    let programs = [program(), baseline];
    stay_on(OTHER);
    println!("{:<28} {:>10} {:>10}   ratio   from    to", "µs a request", "this", "baseline");
    let chosen: Vec<_> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_chosen = |store: &str| chosen.is_empty() || chosen.iter().any(|it| it == store);
    if is_chosen("memory") {
        let memory = fixtures(&programs, |_| "memory".to_owned());
        compare_takes("take, memory", &memory, Clients::Awake);
        compare_reads(&memory);
    }
    if is_chosen("sqlite") {
        let sqlite = fixtures(&programs, |_| "sqlite:swarm.db".to_owned());
        compare_takes("take, SQLite", &sqlite, Clients::Awake);
    }
    // A database server needs the core of the clients, so they sleep while they wait.
    if is_chosen("redis") {
        let redis = [(); 2].map(|()| swarm_redis_testing::Server::start(&["--appendonly", "no"]));
        let url = |number: usize| redis.get(number).expect("one each").url();
        compare_takes("take, Redis", &fixtures(&programs, url), Clients::Asleep);
    }
    if is_chosen("postgres") {
        let options = ["synchronous_commit=off"];
        let postgres = [(); 2].map(|()| swarm_postgres_testing::Server::start(&options));
        let url = |number: usize| postgres.get(number).expect("one each").url();
        compare_takes("take, PostgreSQL", &fixtures(&programs, url), Clients::Asleep);
    }
}

fn fixtures(programs: &[PathBuf; 2], store: impl Fn(usize) -> String) -> [ServerFixture; 2] {
    let fixture = |number: usize, program: &Path| {
        ServerFixture::new(program, &store(number), MEMBERS, READ + 1)
    };
    let [this, baseline] = programs;
    [fixture(0, this), fixture(1, baseline)]
}

fn compare_takes(name: &str, fixtures: &[ServerFixture; 2], clients: Clients) {
    let [used, passed] = measure(fixtures, |fixture, round| {
        let takes = fixture.takes(round);
        let count = u32::try_from(takes.len()).expect("few");
        let began = Instant::now();
        let used = load::cost(clients, &fixture.server, CONNECTIONS, takes, StatusCode::CREATED);
        [used, began.elapsed() / count]
    });
    print(name, used);
    if clients == Clients::Asleep {
        print(&format!("{name}, time"), passed);
    }
}

/// Reads of a session with takes, and their revalidations.
fn compare_reads(fixtures: &[ServerFixture; 2]) {
    let tags = fixtures.each_ref().map(|fixture| {
        let takes = fixture.takes(READ).into_iter().take(TAKES_READ).collect();
        load::send(fixture.server.address, CONNECTIONS, takes, StatusCode::CREATED);
        let answer = load::ask(fixture.server.address, fixture.read(READ, None));
        let tag = answer.headers().get("etag").and_then(|tag| tag.to_str().ok());
        (fixture.server.address, tag.expect("a tag").to_owned())
    });
    let cost = |fixture: &ServerFixture, request: LoadRequest, status| {
        load::cost(Clients::Awake, &fixture.server, CONNECTIONS, vec![request; READS], status)
    };
    let [used] =
        measure(fixtures, |fixture, _| [cost(fixture, fixture.read(READ, None), StatusCode::OK)]);
    print("session with 100 takes", used);
    let [used] = measure(fixtures, |fixture, _| {
        let tag = tags.iter().find(|(address, _)| *address == fixture.server.address);
        let tag = tag.map(|(_, tag)| tag.as_str());
        [cost(fixture, fixture.read(READ, tag), StatusCode::NOT_MODIFIED)]
    });
    print("session, 304", used);
}

/// Both builds in each round, this one first.
type Rounds = [[Duration; 2]; ROUNDS];

/// Measures both in each round. Which one goes first alternates.
fn measure<const N: usize>(
    fixtures: &[ServerFixture; 2],
    mut cost: impl FnMut(&ServerFixture, usize) -> [Duration; N],
) -> [Rounds; N] {
    let [this, baseline] = fixtures;
    let measured: [_; READ] = std::array::from_fn(|round| {
        if round % 2 == 0 {
            let first = cost(this, round);
            [first, cost(baseline, round)]
        } else {
            let first = cost(baseline, round);
            [cost(this, round), first]
        }
    });
    let rounds = measured.last_chunk::<ROUNDS>().expect("warm-up comes first");
    let of = |costs: [Duration; N], at: usize| costs.get(at).copied().unwrap_or_default();
    std::array::from_fn(|at| rounds.map(|both| both.map(|costs| of(costs, at))))
}

/// Prints a row of the table.
fn print(name: &str, rounds: Rounds) {
    let micros = |side: usize| {
        let times =
            rounds.map(|round| round.get(side).map_or(0.0, |time| time.as_secs_f64() * 1e6));
        spread(times)[1]
    };
    let [least, ratio, most] =
        spread(rounds.map(|[this, baseline]| this.as_secs_f64() / baseline.as_secs_f64()));
    println!(
        "{name:<28} {:>10.1} {:>10.1}   {ratio:>5.2}   {least:.2}  {most:.2}",
        micros(0),
        micros(1)
    );
}
