//! The server or the process of its store is killed during openings: each session is opened or sealed afterwards, and can be
//! opened then.

use std::thread;
use std::time::Duration;

use super::openings::{Log, aggregate, convene};
use crate::backend::nightly;
use crate::harness::{ADMIN, Author};
use crate::program::Program;
use swarm_postgres_testing::Server as Postgres;
use swarm_redis_testing::{Server as Redis, wait_until};

nightly!(
    killed_redis_leaves_a_session_opened_or_sealed,
    killed_postgres_leaves_a_session_opened_or_sealed
);

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];
const ROUNDS: u64 = 8;

#[test]
fn killed_server_leaves_a_session_of_its_file_opened_or_sealed() {
    let program = Program::start(&["serve"], TOKEN);
    survives(program, |program| {
        let folder = program.folder.clone();
        program.stop("KILL");
        Program::start_in(folder, &["serve"], TOKEN)
    });
}

fn killed_redis_leaves_a_session_opened_or_sealed() {
    let mut redis = Redis::start(&[]);
    let store = format!("--store={}", redis.url());
    survives(Program::start(&["serve", &store], TOKEN), |program| {
        redis.stop();
        redis.resume();
        program
    });
}

fn killed_postgres_leaves_a_session_opened_or_sealed() {
    let mut postgres = Postgres::start(&[]);
    let store = format!("--store={}", postgres.url());
    survives(Program::start(&["serve", &store], TOKEN), |program| {
        postgres.kill();
        postgres.resume();
        program
    });
}

/// Opens sessions, each time with an outage at another moment of the opening.
fn survives(mut program: Program, mut outage: impl FnMut(Program) -> Program) {
    let authors: Vec<_> = (0..8).map(|_| Author::join(&program.client, "Ada")).collect();
    for round in 0..ROUNDS {
        let subject = format!("round-{round}");
        let session = convene(&program.client, &subject, serde_json::Value::Null);
        for author in &authors {
            for _ in 0..5 {
                program.client.submit(author, author.draft(DAY, &subject)).expect(201);
            }
        }
        let client = program.client.clone();
        let opening = thread::spawn(move || aggregate(&client, session));
        // Spreads the moments of the kills over an opening.
        thread::sleep(Duration::from_micros(round * 1_500));
        program = outage(program);
        let answered = opening.join().unwrap();
        let client = &program.client;
        wait_until("it is ready again", || client.get("/readyz").status == 200);
        let is_opened = Log::read(client).is_opened(client, session);
        assert!(is_opened || !matches!(answered, Ok(200)), "the opening was acknowledged");
        if !is_opened {
            assert_eq!(aggregate(client, session).unwrap(), 200);
        }
        assert!(Log::read(client).is_opened(client, session));
    }
}
