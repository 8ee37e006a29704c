//! Cost of a take by the number of takes on file: two servers get the same takes alternately; one has a
//! growing number on file, the other few. Prints the medians of the ratios of their processor times, and
//! memory and disk per take.
//!
//! The arguments are the maximum of takes on file (a million by default), the characters of each write-up
//! (1,200), and the store (memory, or for example `sqlite:swarm.db`; with `redis:` or `postgres:`, each server gets a
//! database server of its own). `SWARM_PROGRAM` names another binary to measure.
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::time::Duration;

use hyper::StatusCode;
use swarm_benches::USUAL;
use swarm_benches::shipped::load::{self, Clients};
use swarm_benches::shipped::process::{OTHER, stay_on};
use swarm_benches::shipped::{ServerFixture, program, spread};

const MEMBERS: usize = 1_000;

/// The revisions that a member may file in a session.
const REVISIONS: usize = 5;

/// The number of rounds at each size.
const ROUNDS: usize = 15;

fn main() {
    stay_on(OTHER);
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let most = numbers.next().unwrap_or(1_000_000);
    let characters = numbers.next().unwrap_or(USUAL);
    let is_store = |argument: &&String| argument.contains(':');
    let store = arguments.iter().find(is_store).map_or("memory", |store| store);
    let sizes = || (3..).map(|power| 10_usize.pow(power)).take_while(|size| *size < most);
    let measured = (sizes().count() + 1) * ROUNDS;
    let mut old = Growing::new(store, characters, most / MEMBERS + measured);
    println!("takes of {characters} characters, {store}; bytes per take in memory and on disk");
    println!(
        "{:>10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "on file", "ratio", "from", "to", "memory", "disk"
    );
    let empty = old.fixture.server.peak();
    for size in sizes().chain([most]) {
        while old.filed * MEMBERS < size {
            old.file();
        }
        let takes = old.filed * MEMBERS;
        let [memory, disk] =
            [old.fixture.server.peak() - empty, old.fixture.disk()].map(|all| all / takes);
        let mut young = Growing::new(store, characters, ROUNDS + 1);
        young.file();
        let ratio = |()| old.file().as_secs_f64() / young.file().as_secs_f64();
        let [least, median, greatest] = spread([(); ROUNDS].map(ratio));
        println!("{size:>10} {median:>8.2} {least:>8.2} {greatest:>8.2} {memory:>8} {disk:>8}");
    }
}

/// A server on which each member files again and again.
struct Growing {
    fixture: ServerFixture,
    database: Database,
    /// The length of the write-ups.
    characters: usize,
    /// The takes that each member has filed.
    filed: usize,
}

impl Growing {
    /// Makes room for this many takes of each member.
    fn new(store: &str, characters: usize, takes: usize) -> Self {
        let sessions = takes.div_ceil(REVISIONS);
        let (database, url) = Database::start(store);
        let fixture =
            ServerFixture::new(&program(), url.as_deref().unwrap_or(store), MEMBERS, sessions);
        Self { fixture, database, characters, filed: 0 }
    }

    /// Files a take of each member; returns the processor time of one.
    fn file(&mut self) -> Duration {
        let session = self.filed / REVISIONS;
        self.filed += 1;
        let takes = self.fixture.takes_of(self.characters, session);
        // A database server needs the core of the clients, so they sleep while they wait.
        let clients = match self.database {
            Database::None => Clients::Awake,
            Database::Redis(_) | Database::Postgres(_) => Clients::Asleep,
        };
        load::cost(clients, &self.fixture.server, 64, takes, StatusCode::CREATED)
    }
}

/// The database server of a fixture.
enum Database {
    None,
    Redis(#[expect(dead_code, reason = "killed on drop")] swarm_redis_testing::Server),
    Postgres(#[expect(dead_code, reason = "killed on drop")] swarm_postgres_testing::Server),
}

impl Database {
    /// Starts it, if this store needs one; also returns its URL.
    fn start(store: &str) -> (Self, Option<String>) {
        match store {
            "redis:" => {
                let server = swarm_redis_testing::Server::start(&["--appendonly", "no"]);
                let url = server.url();
                (Self::Redis(server), Some(url))
            }
            "postgres:" => {
                let server = swarm_postgres_testing::Server::start(&["synchronous_commit=off"]);
                let url = server.url();
                (Self::Postgres(server), Some(url))
            }
            _ => (Self::None, None),
        }
    }
}
