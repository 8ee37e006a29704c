//! Processor time of a take, compared with services in Node.js that do the same (fastify, with `node:crypto`
//! or libsodium): all get the same takes alternately, in memory and on a `redis-server` each. Prints the
//! medians of their processor times, the median, minimum and maximum of the ratios per round, and the ratio
//! of the minima.
//!
//! The services are in the folder that `SWARM_PEERS` names (a relative one is taken from this folder), else
//! in `shared/peers` beside the checkout: run `npm install` in its folder `node` first. `node/server.js`
//! reads the file `WORLD`, listens on `PORT`, verifies with `VERIFY`, stores in `REDIS_URL` if that is set,
//! and prints a line once it listens. `SWARM_PROGRAM` names another binary to measure.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::path::{Path, PathBuf};
use std::process::Command;

use hyper::StatusCode;
use serde_json::json;
use swarm_benches::shipped::load::{self, Clients};
use swarm_benches::shipped::process::{OTHER, Process, stay_on};
use swarm_benches::shipped::{ServerFixture, program};
use swarm_core::proof::hex;
use swarm_redis_testing::{Server, free_port};

/// Members that file a take in each round, and connections.
const MEMBERS: usize = 1_000;
const CONNECTIONS: usize = 64;

/// Measured rounds, and warm-up rounds before them.
const ROUNDS: usize = 20;
const WARM_UP: usize = 3;

/// The libraries that the services verify with, as they name them.
const LIBRARIES: [(&str, &str); 2] = [("node:crypto", "crypto"), ("libsodium", "sodium")];

fn main() {
    let folder = folder();
    if !folder.join("node/node_modules").exists() {
        println!(
            "NOT MEASURED: {} has no services with their dependencies. Name their folder with \
             SWARM_PEERS, and run npm install in its folder node.",
            folder.display(),
        );
        return;
    }
    stay_on(OTHER);
    compare(&folder, "memory", Clients::Awake, || None);
    // `redis-server` needs the core of the clients, so they sleep while they wait.
    let redis = || Some(Server::start(&["--appendonly", "no"]));
    compare(&folder, "Redis", Clients::Asleep, redis);
}

fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/peers");
    std::env::var_os("SWARM_PEERS").map_or_else(beside, PathBuf::from)
}

/// Files the same takes into all of them, and prints what they cost.
fn compare(folder: &Path, store: &str, clients: Clients, start: impl Fn() -> Option<Server>) {
    let redis = start();
    let url = redis.as_ref().map_or_else(|| "memory".to_owned(), Server::url);
    let fixture = ServerFixture::new(&program(), &url, MEMBERS, WARM_UP + ROUNDS);
    let peers =
        LIBRARIES.map(|(name, library)| (name, Peer::start(folder, library, &fixture, start())));
    let servers: Vec<_> = std::iter::once(("swarm", &fixture.server))
        .chain(peers.iter().map(|(name, peer)| (*name, &peer.server)))
        .collect();
    let mut rounds = vec![Vec::new(); servers.len()];
    for session in 0..WARM_UP + ROUNDS {
        let takes = fixture.takes(session);
        for (times, (_, server)) in rounds.iter_mut().zip(&servers) {
            let time = load::cost(clients, server, CONNECTIONS, takes.clone(), StatusCode::CREATED);
            if session >= WARM_UP {
                times.push(time.as_secs_f64() * 1e6);
            }
        }
    }
    println!(
        "\n{store:<16} {:>12}   {:>14}   from    to   {:>12}   ratio",
        "µs a take", "ratio to swarm", "least µs"
    );
    let own = rounds.first().cloned().unwrap_or_default();
    let [least_own, ..] = range(own.clone());
    for ((name, _), times) in servers.iter().zip(rounds) {
        let ratios = times.iter().zip(&own).map(|(time, own)| time / own).collect();
        let ([least, time, _], [from, ratio, to]) = (range(times), range(ratios));
        let of_least = least / least_own;
        println!(
            "{name:<16} {time:>12.1}   {ratio:>14.2}   {from:.2}  {to:.2}   {least:>12.1}   {of_least:.2}"
        );
    }
}

/// Minimum, median, maximum.
fn range(mut numbers: Vec<f64>) -> [f64; 3] {
    numbers.sort_unstable_by(f64::total_cmp);
    [0, numbers.len() / 2, numbers.len() - 1]
        .map(|place| numbers.get(place).copied().unwrap_or(f64::NAN))
}

/// A service that knows the members and sessions of a fixture.
struct Peer {
    server: Process,
    _redis: Option<Server>,
    _folder: tempfile::TempDir,
}

impl Peer {
    fn start(folder: &Path, library: &str, fixture: &ServerFixture, redis: Option<Server>) -> Self {
        let own = tempfile::tempdir().expect("a folder");
        let known = own.path().join("fixture.json");
        std::fs::write(&known, text(fixture)).expect("a file");
        let port = free_port();
        let mut command = Command::new("node");
        command.arg("server.js").current_dir(folder.join("node"));
        command.env("WORLD", known).env("PORT", port.to_string()).env("VERIFY", library);
        if let Some(redis) = &redis {
            command.env("REDIS_URL", redis.url());
        }
        let server = Process::start_at(&command, ([127, 0, 0, 1], port).into());
        Self { server, _redis: redis, _folder: own }
    }
}

/// The members and sessions of a fixture, as the services read them.
fn text(fixture: &ServerFixture) -> String {
    let members: Vec<_> = fixture
        .authors
        .iter()
        .map(|author| {
            json!({
                "memberId": author.id(), "publicKey": author.public_key(),
                "tokenSha256": hex(author.token_hash().as_bytes()), "active": true,
            })
        })
        .collect();
    json!({ "members": members, "sessions": fixture.sessions }).to_string()
}
