//! Sessions that are withdrawn (API.md, 7.3).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::Answer;

on_every_store! {
    withdrawn_session_is_not_found,
    withdrawn_session_uncovers_the_one_before_it,
    session_with_takes_is_not_withdrawn,
    brief_of_a_withdrawn_session_is_gone,
}

const DATE: &str = "2026-11-21";

fn withdraw(fixture: &Fixture, session: u64, body: &Value) -> Answer {
    fixture.client.operate(&format!("/sessions/{session}/withdraw"), body)
}

/// In any state, and for good.
fn withdrawn_session_is_not_found(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    for (id, states) in [(1, [].as_slice()), (2, &["window_closed", "aggregated", "published"])] {
        assert_eq!(client.convene(DATE, "aurora"), id);
        for state in states {
            let path = format!("/sessions/{id}/state");
            client.operate(&path, &json!({ "state": state })).expect(200);
        }
        let path = format!("/api/swarm/sessions/{id}");
        let last = client.get(&path).expect(200).json()["session"].clone();
        let answer = withdraw(&fixture, id, &json!({ "note": "by mistake" })).expect(200).json();
        assert_eq!(answer, json!({ "ok": true, "status": 200, "session": last }));

        client.get(&path).refused(404, "no such session");
        client.get(&format!("/api/swarm/sessions/{DATE}/aurora")).refused(404, "no such session");
        assert_eq!(client.get("/api/swarm/sessions").expect(200).json()["sessions"], json!([]));
        assert_eq!(client.get("/api/swarm/open-session").expect(200).json(), Value::Null);
        client.get(&format!("/swarm/sessions/{id}")).expect(404);
        withdraw(&fixture, id, &json!({})).refused(404, "no such session");
        client
            .operate(&format!("/sessions/{id}/state"), &json!({ "state": "aggregated" }))
            .refused(404, "no such session");

        let entry = fixture.client.log_entries().pop().unwrap();
        assert_eq!(
            (&entry["kind"], &entry["act"], &entry["by"], &entry["note"]),
            (&json!("session"), &json!("withdrawn"), &json!("operator"), &json!("by mistake"))
        );
        for field in ["id", "date", "subjectId", "state", "convenedAt"] {
            assert_eq!(entry["session"][field], last[field], "{field}");
        }
    }
    assert_eq!(client.convene(DATE, "aurora"), 3);
    assert!(client.get("/swarm/log").expect(200).text.contains("withdrawn"));
    assert!(client.get("/feed.xml").expect(200).text.contains("<feed"));
    withdraw(&fixture, 99, &json!({})).refused(404, "no such session");
    let bad = withdraw(&fixture, 3, &json!({ "reason": "none" })).expect(400).json();
    assert_eq!(bad["error"], "invalid request");
}

/// Takes of the day go to the session before it again.
fn withdrawn_session_uncovers_the_one_before_it(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let submit = || fixture.client.submit(&author, author.draft(DATE, "aurora"));
    fixture.client.convene(DATE, "aurora");
    submit().expect(201);
    fixture.client.convene(DATE, "aurora");
    let hidden = format!("/api/swarm/sessions/{DATE}/aurora");
    assert_eq!(fixture.client.get(&hidden).expect(200).json()["session"]["id"], 2);
    // A body is not needed.
    let path = "/api/swarm/admin/sessions/2/withdraw";
    let admin = [("x-admin-token", crate::harness::ADMIN)];
    fixture.client.send("POST", path, &admin, b"").expect(200);
    assert_eq!(fixture.client.get(&hidden).expect(200).json()["session"]["id"], 1);
    submit().expect(201);
    let take = fixture.client.get("/api/swarm/takes/2").expect(200).json();
    assert_eq!((&take["sessionId"], &take["revision"]), (&json!(1), &json!(2)));
}

fn session_with_takes_is_not_withdrawn(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    fixture.client.convene(DATE, "aurora");
    fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
    let before = fixture.client.log_entries();
    let refused = withdraw(&fixture, 1, &json!({}));
    assert_eq!(refused.header("swarm-error"), Some("takes-on-file"));
    refused.refused(409, "takes are on file");
    assert_eq!(fixture.client.log_entries(), before);
    fixture.client.get("/api/swarm/sessions/1").expect(200);
}

/// A memo that names the session stays, and names it as before.
fn brief_of_a_withdrawn_session_is_gone(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let client = &fixture.client;
    for id in 1..=2 {
        assert_eq!(client.convene(DATE, "aurora"), id);
        client.operate(&format!("/sessions/{id}/brief"), &json!({})).expect(201);
    }
    let memo = json!({ "title": "A memo", "body": "Long.", "sessionId": 2 }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);
    let of_day = format!("/api/swarm/brief?date={DATE}&subject=aurora");
    assert_eq!(client.get(&of_day).expect(200).json()["sessionId"], "2");
    withdraw(&fixture, 2, &json!({})).expect(200);
    assert_eq!(client.get("/api/swarm/brief?session=2").expect(200).json(), Value::Null);
    assert_eq!(client.get(&of_day).expect(200).json()["sessionId"], "1");
    withdraw(&fixture, 1, &json!({})).expect(200);
    assert_eq!(client.get(&of_day).expect(200).json(), Value::Null);
    assert_eq!(client.get("/api/swarm/memos/1").expect(200).json()["sessionId"], 2);
    client.get("/swarm/memos/1").expect(200);
}
