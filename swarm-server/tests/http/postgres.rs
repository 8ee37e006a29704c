//! `swarm serve` on PostgreSQL.

use serde_json::json;
use swarm_postgres_testing::Server as Postgres;

use crate::harness::{ADMIN, Answer, Author};
use crate::program::{Program, swarm};

const DATE: &str = "2026-11-21";

#[test]
fn full_disk_is_answered_with_503_until_there_is_room() {
    let Some(postgres) = Postgres::start_with_small_disk() else { return };
    let store = format!("{}&options=-c%20default_tablespace%3Dsmall", postgres.url());
    let serve = ["serve", "--store", &store];
    let program = Program::start(&serve, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    client.convene(DATE, "aurora");
    let author = Author::join(client, "Ada");
    let memo = json!({ "title": "T", "body": "b".repeat(10_000) }).to_string();
    let publish = || client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo);
    let id = |answer: Answer| answer.expect(201).json()["memoId"].as_u64().unwrap();

    postgres.fill_disk();
    let (mut last, mut answer) = (0, publish());
    while answer.status == 201 {
        // Pages that are not full yet take some more.
        last = id(answer);
        assert!(last < 5_000, "the disk is not full");
        answer = publish();
    }
    answer.refused(503, "store unavailable");
    let ready = client.get("/readyz").expect(200).text;
    assert!(ready.contains("no space left"), "{ready}");
    client.get(&format!("/api/swarm/memos/{}", last + 1)).expect(404);

    postgres.empty_disk();
    assert_eq!(id(publish()), last + 1);
    assert!(!client.get("/readyz").expect(200).text.contains("no space left"));
}

#[test]
fn check_of_a_new_database_creates_nothing() {
    let postgres = Postgres::start(&[]);
    let store = format!("--store={}", postgres.url());
    let check = || {
        let output =
            swarm(&["check", "--connect", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(check().contains("store: answers; it has no tables yet: serve makes them\n"));
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'swarm'";
    assert_eq!(postgres.psql(schemas), "0");
    Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]).stop("TERM");
    assert!(check().contains("store: answers\n"));
}
