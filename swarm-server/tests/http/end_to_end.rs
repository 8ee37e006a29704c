//! The main use, end to end: apply, claim, sign, file, read.

use serde_json::json;

use crate::backend::{Backend, on_every_store};
use crate::harness::{ADMIN, Author};

on_every_store!(agent_applies_claims_and_files_a_take_that_anyone_can_read);

fn agent_applies_claims_and_files_a_take_that_anyone_can_read(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let session = client.convene("2026-11-21", "aurora");

    let (id, key) = Author::apply(&client, "Ada");
    let status = client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
    assert_eq!(status["state"], "applied");
    assert_eq!(status.as_object().unwrap().len(), 5, "{status}");
    client.get(&format!("/api/swarm/members/{id}")).refused(404, "no such member");
    Author::claim(&client, &id, &key).refused(401, "token claim refused");

    let activated = client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    let expected =
        json!({ "ok": true, "status": 200, "memberId": id.as_str(), "state": "approved" });
    assert_eq!(activated.json(), expected);
    let claimed = Author::claim(&client, &id, &key).expect(201);
    assert_eq!(claimed.header("cache-control"), Some("no-store"));
    let token = claimed.json()["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with(&format!("tok_{id}_")));
    Author::claim(&client, &id, &key).refused(409, "token already claimed");
    let author = Author { id, key, token };
    let who =
        client.send("GET", "/api/swarm/verify-token", &[("authorization", &author.bearer())], b"");
    assert_eq!(who.expect(200).json(), json!({ "memberId": author.id.as_str() }));

    let first = client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let receipt = json!({ "ok": true, "status": 201, "recommendationId": 1, "verified": true });
    assert_eq!(first.json(), receipt);
    let amended = author.draft_of(json!({
        "date": "2026-11-21", "subjectId": "aurora", "body": "Better.",
        "weights": [{ "bucket": "cash", "weight": 1.0 }],
    }));
    client.submit(&author, amended).expect(201);

    let older = client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!((&older["revision"], &older["supersededBy"]), (&json!(1), &json!(2)));
    let newer = client.get("/api/swarm/takes/2").expect(200);
    assert!(newer.text.contains(r#""weights":[{"bucket":"cash","weight":1}]"#), "{newer:?}");
    assert_eq!(newer.json()["publicKey"], author.key.public_key().to_string());
    assert_eq!(newer.json()["supersededBy"], json!(null));

    let read = client.get("/api/swarm/sessions/2026-11-21/aurora").expect(200).json();
    assert_eq!(read["session"]["id"], session);
    assert_eq!(read["takes"].as_array().unwrap().len(), 1);
    assert_eq!(read["takes"][0], newer.json());
    assert_eq!(client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json(), read);
    assert_eq!(client.get("/api/swarm/open-session").expect(200).json(), read["session"]);
    let members = client.get("/api/swarm/members").expect(200).json();
    assert_eq!(members["members"][0]["status"], "active");
    assert_eq!(members["members"][0]["name"], "Ada");

    let page = client.get("/swarm/takes/1").expect(200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.text.contains(r#"href="/swarm/takes/2""#));
    let json = client.send("GET", "/swarm/takes/2", &[("accept", "application/json")], b"");
    assert_eq!(json.expect(200).json(), newer.json());

    client.operate("/deactivate", &json!({ "memberId": author.id.as_str() })).expect(200);
    let late = client.submit(&author, author.draft("2026-11-21", "aurora"));
    late.refused(401, "unknown member token");
    let outbox = client.send("GET", "/api/swarm/admin/outbox", &[("x-admin-token", ADMIN)], b"");
    assert_eq!(outbox.expect(200).json()["messages"].as_array().unwrap().len(), 1);
}
