//! The public log: every public change appends an entry, and nothing else does.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::backend::{Backend, on_every_store};
use crate::harness::{ADMIN, Author, Client};

on_every_store! {
    each_public_change_appends_an_entry,
    entries_of_session_changes_contain_the_note,
    entries_do_not_change_with_their_records,
    log_is_read_by_pages,
}

const DAY: &str = "2026-11-21";

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold("sha256:".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn patch(client: &Client, path: &str, body: &Value) {
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin{path}");
    client.send("PATCH", &path, &headers, body.to_string().as_bytes()).expect(200);
}

/// The last entry, without its number and time.
fn last(client: &Client) -> Value {
    let mut entry = client.log_entries().pop().unwrap();
    let fields = entry.as_object_mut().unwrap();
    let (seq, at) = (fields.remove("seq").unwrap(), fields.remove("at").unwrap());
    assert!(seq.is_u64() && at.as_str().unwrap().ends_with('Z'), "{seq} {at}");
    entry
}

fn each_public_change_appends_an_entry(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    let key = ada.key.public_key().to_string();
    let entries = client.log_entries();
    let acts: Vec<_> = entries.iter().map(|entry| (&entry["act"], &entry["by"])).collect();
    let (activated, claimed) = (json!("activated"), json!("claimed"));
    assert_eq!(acts, [(&activated, &json!("operator")), (&claimed, &json!("member"))]);
    let member = json!({ "kind": "member", "act": "claimed", "by": "member", "id": ada.id,
        "status": "active", "publicKey": key });
    assert_eq!(last(&client), member);

    let subject = json!({ "id": "aurora", "name": "Aurora" });
    client.operate("/subjects", &subject).expect(201);
    let served = client.get("/api/swarm/subjects/aurora").expect(200).text;
    let entry = json!({ "kind": "subject", "by": "operator", "id": "aurora",
        "digest": digest(&served) });
    assert_eq!(last(&client), entry);

    let convened = json!({ "date": DAY, "subjectId": "aurora", "note": "as \"planned\"" });
    client.operate("/sessions", &convened).expect(201);
    let session = client.get("/api/swarm/open-session").expect(200).json();
    let entry = last(&client);
    assert_eq!((&entry["act"], &entry["by"]), (&json!("convened"), &json!("operator")));
    assert_eq!(entry["note"], "as \"planned\"");
    for field in ["id", "date", "subjectId", "state", "windowClosesAt", "convenedAt", "quorum"] {
        assert_eq!(entry["session"][field], session[field], "{field}");
    }
    for digest in ["rosterDigest", "bucketsDigest", "snapshotDigest"] {
        assert_eq!(entry["session"][digest], Value::Null);
    }

    let draft = ada.draft(DAY, "aurora");
    let signed = client.submit(&ada, draft).expect(201).json();
    let take = client.get("/api/swarm/takes/1").expect(200).json();
    let entry = last(&client);
    assert_eq!(signed["recommendationId"], entry["id"]);
    assert_eq!((&entry["kind"], &entry["sessionId"]), (&json!("take"), &json!(1)));
    for field in ["memberId", "revision", "signature", "publicKey"] {
        assert_eq!(entry[field], take[field], "{field}");
    }
    let payload = client.post("/api/swarm/signing-payload", &[], &take.to_string());
    let canonical = payload.expect(200).json()["canonical"].as_str().unwrap().to_owned();
    assert_eq!(entry["digest"], digest(&canonical));

    let roster = json!({ "members": [{ "memberId": ada.id }] });
    client.operate("/sessions/1/roster", &roster).expect(200);
    let listed = format!(r#"[{{"memberId":"{}","excused":false}}]"#, ada.id);
    let entry = last(&client);
    assert_eq!(entry["act"], "roster");
    assert_eq!(entry["session"]["rosterDigest"], digest(&listed));

    let excuse = json!({ "memberId": ada.id, "excused": true });
    client.operate("/sessions/1/roster/excuse", &excuse).expect(200);
    let entry = last(&client);
    assert_eq!((&entry["act"], &entry["memberId"]), (&json!("excuse"), &json!(ada.id)));
    assert_eq!(entry["excused"], true);
    let before = client.log_entries().len();
    client.operate("/sessions/1/roster/excuse", &excuse).expect(200);
    assert_eq!(client.log_entries().len(), before, "nothing changed");

    patch(
        &client,
        "/sessions/1",
        &json!({ "windowClosesAt": "2999-01-01T00:00:00Z", "quorum": 1 }),
    );
    assert_eq!(last(&client)["act"], "deadline");
    patch(&client, "/sessions/1", &json!({ "quorum": 2, "note": "more" }));
    assert_eq!((&last(&client)["act"], &last(&client)["note"]), (&json!("quorum"), &json!("more")));
    let size = client.log_entries().len();
    for nothing in [json!({}), json!({ "quorum": 2 })] {
        patch(&client, "/sessions/1", &nothing);
    }
    assert_eq!(client.log_entries().len(), size);
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    assert_eq!(last(&client)["act"], "brief");
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let entry = last(&client);
    assert_eq!(
        (&entry["act"], &entry["session"]["state"]),
        (&json!("state"), &json!("aggregated"))
    );
    assert!(entry["session"]["snapshotDigest"].as_str().unwrap().starts_with("sha256:"));

    let snapshot = json!({ "date": DAY, "totalValueUsd": 1.5, "positions": [], "notable": [] });
    client.operate("/subjects/aurora/snapshots", &snapshot).expect(201);
    let entry = last(&client);
    assert_eq!((&entry["kind"], &entry["id"]), (&json!("subject-snapshot"), &json!(1)));
    let list = client.get("/api/swarm/subjects/aurora/snapshots").expect(200).text;
    let served = list.strip_prefix(r#"{"snapshots":["#).and_then(|rest| rest.strip_suffix("]}"));
    assert_eq!(entry["digest"], digest(&without_assigned(served.unwrap(), "createdAt")));

    client.operate("/regime", &json!({ "date": DAY, "regime": "calm" })).expect(200);
    let entry = last(&client);
    assert_eq!((&entry["kind"], &entry["date"]), (&json!("regime"), &json!(DAY)));
    client
        .operate("/signals", &json!({ "date": DAY, "signal_key": "k", "payload": 1 }))
        .expect(200);
    let entry = last(&client);
    assert_eq!((&entry["kind"], &entry["signal_key"]), (&json!("signal"), &json!("k")));

    let seqs: Vec<_> =
        client.log_entries().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

/// The text of a record without its id, 1, and the time that its commit assigned, which is its last field.
fn without_assigned(record: &str, time: &str) -> String {
    let (fields, assigned) = record.rsplit_once(&format!(",\"{time}\":\"")).unwrap();
    assert!(assigned.ends_with("Z\"}"), "{assigned}");
    format!("{{{}}}", fields.strip_prefix("{\"id\":1,").unwrap())
}

fn entries_of_session_changes_contain_the_note(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ada = Author::join(&client, "Ada").id;
    let whole = json!("\u{1f680}".repeat(500));
    let too_long = json!("\u{1f680}".repeat(501));
    let noted = |body: &Value, note: &Value| {
        let mut body = body.clone();
        body["note"] = note.clone();
        body
    };
    for (path, body) in [
        ("/sessions", json!({ "date": DAY, "subjectId": "aurora" })),
        ("/sessions/1/roster", json!({ "members": [{ "memberId": ada }] })),
        ("/sessions/1/roster/excuse", json!({ "memberId": ada, "excused": true })),
        ("/sessions/1/brief", json!({})),
        ("/sessions/1/state", json!({ "state": "aggregated" })),
    ] {
        for wrong in [&too_long, &json!(1)] {
            let refused = client.operate(path, &noted(&body, wrong)).expect(400).json();
            assert_eq!(refused["error"], "invalid request", "{path}");
            assert!(refused["detail"].as_str().unwrap().contains("note"), "{refused}");
        }
        let answer = client.operate(path, &noted(&body, &whole));
        assert!(answer.status < 300, "{path}: {answer:?}");
        assert_eq!(last(&client)["note"], whole, "{path}");
    }
    let deadline = json!({ "windowClosesAt": "2999-01-01T00:00:00Z" });
    patch(&client, "/sessions/1", &noted(&deadline, &whole));
    assert_eq!((&last(&client)["act"], &last(&client)["note"]), (&json!("deadline"), &whole));
}

fn entries_do_not_change_with_their_records(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    let bearer = format!("Bearer {}", ada.token);
    let memo = json!({ "title": "A memo", "body": "Long." }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo).expect(201);
    let served = client.get("/api/swarm/memos/1").expect(200).text;
    let entry = json!({ "kind": "memo", "act": "published", "id": 1, "memberId": ada.id,
        "digest": digest(&without_assigned(&served, "publishedAt")) });
    assert_eq!(last(&client), entry);
    let before = client.log_entries();

    client.operate("/memos/1/retract", &json!({})).expect(200);
    let mut after = client.log_entries();
    let retracted = after.pop().unwrap();
    assert_eq!(after, before);
    assert_eq!((&retracted["act"], &retracted["by"]), (&json!("retracted"), &json!("operator")));
    assert_eq!(retracted["digest"], entry["digest"]);
    // Retracting it again changes nothing.
    client.operate("/memos/1/retract", &json!({})).expect(200);
    assert_eq!(client.log_entries().len(), before.len() + 1);
    client.operate("/deactivate", &json!({ "memberId": ada.id })).expect(200);
    assert_eq!(client.log_entries().last().unwrap()["status"], "inactive");
}

fn log_is_read_by_pages(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let empty = r#"{"log":1,"entries":[],"next":0,"more":false}"#;
    assert_eq!(client.get("/api/swarm/log").expect(200).text, empty);
    for _ in 0..5 {
        client.convene(DAY, "aurora");
    }
    let whole = client.log_entries();
    let (mut read, mut after, mut more) = (Vec::new(), json!(0), true);
    while more {
        let page = client.get(&format!("/api/swarm/log?limit=2&after={after}")).expect(200).json();
        read.extend(page["entries"].as_array().unwrap().clone());
        after = page["next"].clone();
        more = page["more"].as_bool().unwrap();
    }
    assert_eq!(after, whole.len());
    let beyond = client.get("/api/swarm/log?after=99").expect(200).json();
    assert_eq!(beyond, json!({ "log": 1, "entries": [], "next": 99, "more": false }));
    assert_eq!(read, whole);
    for bad in ["limit=0", "limit=1001", "limit=x", "after=-1", "after=1.5", "after="] {
        client.get(&format!("/api/swarm/log?{bad}")).unread(400, "invalid query");
    }
}
