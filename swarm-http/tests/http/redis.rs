//! The program on a real Redis: two of them on one, and one that comes back.

use serde_json::json;

use crate::backend::servers::{Server, wait_until};
use crate::binary::Program;
use crate::harness::{ADMIN, Author};

const DAY: &str = "2026-11-21";

#[test]
fn two_servers_share_one_truth_and_survive_its_death() {
    let mut redis = Server::start(&[]);
    let store = format!("--store={}", redis.url());
    let serve = || Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let (one, other) = (serve(), serve());
    one.client.get("/readyz").expect(200);
    assert_eq!(one.client.convene(DAY, "aurora"), 1);
    let author = Author::join(&other.client, "Ada");
    let first = author.draft(DAY, "aurora");
    one.client.submit(&author, first.clone()).expect(201);
    let replay = other.client.submit(&author, first.clone()).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    let read = other.client.get("/api/swarm/sessions/1").expect(200).text;
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);

    redis.stop();
    let away = one.client.submit(&author, author.draft(DAY, "aurora"));
    away.refused(503, "store unavailable");
    one.client.get("/readyz").refused(503, "store unavailable");
    one.client.get("/healthz").expect(200);

    redis.resume();
    wait_until("the store is found again", || one.client.get("/readyz").status == 200);
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);
    let replay = one.client.submit(&author, first).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    other.client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    let advance = json!({ "state": "aggregated" });
    let session = one.client.operate("/sessions/1/state", &advance).expect(200).json();
    assert_eq!(session["session"]["snapshot"]["participation"]["members"], 1);
}
