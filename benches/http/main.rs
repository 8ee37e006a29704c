//! Processor time of `swarm serve` per request: a separate process on one core, its clients on another, over
//! real sockets. The same run measures the lower bounds: a bare warp server, and a strict verification of a
//! signature. Each round measures everything once; prints the medians of the rounds and of their ratios.
//!
//! `SWARM_PROGRAM` names another binary to measure.
#![allow(unreachable_pub, reason = "its modules are its own")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

mod floors;
#[path = "../nothing.rs"]
mod nothing;
mod report;

use std::time::Duration;

use futures_util::future::join_all;
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use swarm_benches::SignedTakes;
use swarm_benches::shipped::load::{self, Clients, LoadRequest};
use swarm_benches::shipped::process::{OTHER, Process, stay_on, used};
use swarm_benches::shipped::{ServerFixture, program};
use swarm_redis_testing::Server;

use floors::Reads;
use report::Report;

const ROUNDS: usize = 5;

/// The members and sessions of each fixture, and the connections of its clients.
const MEMBERS: usize = 2_000;
const SESSIONS: usize = 4 * ROUNDS + 4;
const CONNECTIONS: usize = 64;

/// The number of concurrent calls of the script that does nothing.
const AT_ONCE: usize = 10;

/// Requests of each kind in a round: enough that opening the connections does not matter.
const READS: usize = 10_000;

/// Takes filed at a steady pace in a round.
const PACED: usize = 1_000;

/// The sessions that are read: one with 100 takes, one with 10,000.
const SMALL: usize = SESSIONS - 1;
const LARGE: usize = SESSIONS - 2;

fn main() {
    if floors::serve_if_asked() {
        return;
    }
    let program = program();
    stay_on(OTHER);
    let redis = Server::start(&["--appendonly", "no"]);
    let postgres = swarm_postgres_testing::Server::start(&["synchronous_commit=off"]);
    let memory = ServerFixture::new(&program, "memory", MEMBERS, SESSIONS);
    let sqlite = ServerFixture::new(&program, "sqlite:swarm.db", MEMBERS, SESSIONS);
    let on_redis = ServerFixture::new(&program, &redis.url(), MEMBERS, SESSIONS);
    let on_postgres = ServerFixture::new(&program, &postgres.url(), MEMBERS, SESSIONS);
    fill(&memory);
    // The first fixture has filed as many takes at this point.
    for fixture in [&sqlite, &on_redis, &on_postgres] {
        file_everybodys(fixture, LARGE);
        file_everybodys(fixture, LARGE);
    }
    let (whole, unchanged, tag) = answers(&memory);
    let folder = tempfile::tempdir().expect("a folder");
    let warp = floors::bare_warp(&Reads::of(whole, &unchanged), folder.path());

    let mut report = Report::default();
    let (mut scripts, mut reads, mut idle_reads) = (0, 0, 0);
    for round in 0..ROUNDS {
        let verification = floors::strict_verification();
        report.add("strict verification", verification);
        let hello = memory.takes(round);
        report.add("bare warp, 201", cost(&warp, hello, StatusCode::CREATED));
        report.add("take, memory", file_takes(&memory, round, Clients::Awake));
        report.add("take, SQLite", file_takes(&sqlite, round, Clients::Awake));
        // `redis-server` needs the core of the clients, so they sleep while they wait.
        let asleep = file_takes(&memory, ROUNDS + round, Clients::Asleep);
        report.add("take, memory, clients that sleep", asleep);
        let before = (used(redis.process()), redis.scripts(), redis.reads());
        report
            .add("take, Redis, clients that sleep", file_takes(&on_redis, round, Clients::Asleep));
        report.add("take, redis-server", share(used(redis.process()) - before.0, MEMBERS));
        scripts += redis.scripts() - before.1;
        reads += redis.reads() - before.2;
        let on_postgres = file_takes(&on_postgres, round, Clients::Asleep);
        report.add("take, PostgreSQL, clients that sleep", on_postgres);
        let before = (used(redis.process()), redis.reads());
        do_nothing(&redis.url());
        report.add("nothing, redis-server", share(used(redis.process()) - before.0, MEMBERS));
        idle_reads += redis.reads() - before.1;
        read(&mut report, &memory, &warp, &tag);
        report.add("p99 of a take, alone", wait(&memory, 2 * ROUNDS + round, 0));
        let beside = wait(&memory, 3 * ROUNDS + round, 1);
        report.add("p99 of a take, beside reads of 10,000 takes", beside);
    }
    report.print();
    let [scripts, reads, idle_reads] = [scripts, reads, idle_reads].map(per_take);
    println!("Redis: {scripts:.3} calls of scripts and {reads:.2} reads of connections a take");
    println!("and {idle_reads:.2} reads of connections for a script that does nothing");
}

/// 100 takes in one session, 10,000 in another.
fn fill(fixture: &ServerFixture) {
    let small = (0..100).map(|author| fixture.take(author, SMALL)).collect();
    load::send(fixture.server.address, CONNECTIONS, small, StatusCode::CREATED);
    for _ in 0..5 {
        file_everybodys(fixture, LARGE);
    }
}

/// Files a take of each member in this session.
fn file_everybodys(fixture: &ServerFixture, session: usize) {
    let takes = fixture.takes(session);
    load::send(fixture.server.address, CONNECTIONS, takes, StatusCode::CREATED);
}

/// The answers to a read of the session with 100 takes, and to its revalidation.
fn answers(fixture: &ServerFixture) -> (Response<Bytes>, Response<Bytes>, String) {
    let ask = |tag| load::ask(fixture.server.address, fixture.read(SMALL, tag));
    let whole = ask(None);
    let tag = whole.headers().get("etag").and_then(|tag| tag.to_str().ok()).expect("a tag");
    let (tag, unchanged) = (tag.to_owned(), ask(Some(tag)));
    (whole, unchanged, tag)
}

/// The cost of filing a take of each member in this session.
fn file_takes(fixture: &ServerFixture, session: usize, clients: Clients) -> Duration {
    let takes = fixture.takes(session);
    load::cost(clients, &fixture.server, CONNECTIONS, takes, StatusCode::CREATED)
}

/// Reads of a session with 100 takes, and their revalidations, beside the bare server's.
fn read(report: &mut Report, fixture: &ServerFixture, warp: &Process, tag: &str) {
    let times = |request: LoadRequest| vec![request; READS];
    let reads = [
        ("bare warp, the same 200", warp, fixture.get("/whole", None), StatusCode::OK),
        ("session with 100 takes", &fixture.server, fixture.read(SMALL, None), StatusCode::OK),
        (
            "bare warp, the same 304",
            warp,
            fixture.get("/unchanged", Some(tag)),
            StatusCode::NOT_MODIFIED,
        ),
        ("session, 304", &fixture.server, fixture.read(SMALL, Some(tag)), StatusCode::NOT_MODIFIED),
    ];
    for (name, server, request, status) in reads {
        report.add(name, cost(server, times(request), status));
    }
}

/// The processor time of a server per request.
fn cost(server: &Process, requests: Vec<LoadRequest>, expected: StatusCode) -> Duration {
    load::cost(Clients::Awake, server, CONNECTIONS, requests, expected)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn per_take(count: u64) -> f64 {
    count as f64 / (ROUNDS * MEMBERS) as f64
}

fn share(time: Duration, count: usize) -> Duration {
    time / u32::try_from(count).expect("few")
}

/// Calls the script that does nothing once per filed take, with a concurrency at which Redis reads as many
/// calls at a time as it did takes.
fn do_nothing(url: &str) {
    let record = nothing::record(SignedTakes::new(1).takes.first().expect("takes"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let client = redis::Client::open(url).expect("an address");
        let connection = client.get_multiplexed_async_connection().await.expect("it answers");
        let calls = async || {
            for _ in 0..MEMBERS / AT_ONCE {
                nothing::call(connection.clone(), record.clone()).await;
            }
        };
        join_all((0..AT_ONCE).map(|_| calls())).await;
    });
}

/// The 99th percentile of the latency of takes, filed every three milliseconds, while this many clients
/// read the session with 10,000 takes without a pause.
fn wait(fixture: &ServerFixture, session: usize, readers: usize) -> Duration {
    let takes = fixture.takes(session).into_iter().take(PACED).collect();
    let (pace, large) = (Duration::from_millis(3), fixture.read(LARGE, None));
    let mut times = load::send_beside(fixture.server.address, takes, pace, readers, &large);
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().expect("takes were filed")
}
