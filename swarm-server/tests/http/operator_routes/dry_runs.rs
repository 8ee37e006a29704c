//! Dry runs of every operator's change (API.md, 7.1).

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::desk::{Desk, Request};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author};
use crate::routes;

on_every_store! {
    dry_runs_change_nothing,
    dry_run_reads_refusals_as_ever,
    dry_run_of_a_competing_activation_rejects_nobody,
    dry_run_names_its_cautions,
}

fn dry_run_names_its_cautions(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, clock) = (&fixture.client, &fixture.clock);
    let (ada, bob) = (Author::join(client, "Ada"), Author::join(client, "Bob"));
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let day = "2026-11-21";
    let in_millis = |millis: i64| clock.now().plus_millis(millis).to_string();
    let (hour, minute) = (60 * 60 * 1_000, 60 * 1_000);
    let cautions = |method: &str, path: &str, body: &Value| -> Vec<(String, String)> {
        let path = format!("/api/swarm/admin{path}?dry_run=true");
        let answer = send_to(&fixture, method, &path, &body.to_string());
        assert!(matches!(answer.status, 200 | 201), "{path}: {answer:?}");
        let cautions = answer.json()["cautions"].as_array().unwrap().clone();
        let text = |caution: &Value, field: &str| caution[field].as_str().unwrap().to_owned();
        cautions.iter().map(|it| (text(it, "code"), text(it, "message"))).collect()
    };
    let codes = |method: &str, path: &str, body: &Value| -> Vec<String> {
        cautions(method, path, body).into_iter().map(|(code, _)| code).collect()
    };
    let convened = json!({ "date": day, "subjectId": "aurora", "windowClosesAt": in_millis(hour),
        "roster": [{ "memberId": ada.id }, { "memberId": bob.id }], "quorum": 2 });
    assert_eq!(codes("POST", "/sessions", &convened), [""; 0]);
    let mut unmet = convened.clone();
    unmet["quorum"] = json!(3);
    unmet["windowClosesAt"] = json!(in_millis(-hour));
    assert_eq!(codes("POST", "/sessions", &unmet), ["deadline-past", "quorum-unreachable"]);
    client.operate("/sessions", &convened).expect(201);
    client.submit(&ada, ada.draft(day, "aurora")).expect(201);
    let session = "/sessions/1";
    let deadline = |to: i64| json!({ "windowClosesAt": in_millis(to) });
    assert_eq!(codes("PATCH", session, &deadline(minute)), ["deadline-earlier"]);
    assert_eq!(codes("PATCH", session, &deadline(2 * hour)), [""; 0]);
    assert_eq!(codes("PATCH", session, &json!({ "quorum": 3 })), ["quorum-unreachable"]);
    let aggregated = json!({ "state": "aggregated" });
    let found = cautions("POST", "/sessions/1/state", &aggregated);
    let codes_of: Vec<_> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes_of, ["window-open", "quorum-missed", "irreversible", "not-filed"]);
    assert_eq!(found[3].1, "not filed yet: Bob");
    let closed = json!({ "state": "window_closed" });
    assert_eq!(codes("POST", "/sessions/1/state", &closed), ["not-filed"]);
    let ended = json!({ "state": "window_closed", "endWindow": true });
    assert_eq!(codes("POST", "/sessions/1/state", &ended), ["deadline-earlier", "not-filed"]);
    // A first deadline that is ahead comes earlier for those alone who have filed.
    client
        .operate("/sessions", &json!({ "date": "2026-11-22", "subjectId": "aurora" }))
        .expect(201);
    let other = "/sessions/2";
    assert_eq!(codes("PATCH", other, &deadline(hour)), [""; 0]);
    assert_eq!(codes("PATCH", other, &deadline(-hour)), ["deadline-earlier"]);
    assert_eq!(codes("POST", "/sessions/2/state", &ended), ["deadline-earlier"]);
    client.submit(&ada, ada.draft("2026-11-22", "aurora")).expect(201);
    assert_eq!(codes("PATCH", other, &deadline(hour)), ["deadline-earlier"]);
    let member = json!({ "memberId": ada.id });
    assert_eq!(codes("POST", "/rotate-key", &member), ["irreversible"]);
    assert_eq!(codes("POST", "/deactivate", &member), [""; 0]);
    let blind = json!({ "date": day, "subjectId": "aurora", "blind": true,
        "windowClosesAt": in_millis(hour) });
    client.operate("/sessions", &blind).expect(201);
    client.submit(&bob, bob.draft(day, "aurora")).expect(201);
    let whole = client.operate("/sessions/1/state", &aggregated).expect(200).json();
    assert!(whole.get("cautions").is_none() && whole.get("dryRun").is_none(), "{whole}");
}

/// Sends a request with a query.
fn send(fixture: &Fixture, request: &Request, query: &str) -> Answer {
    let Request { route, path, body } = request;
    send_to(fixture, route.method(), &format!("{path}{query}"), body)
}

fn send_to(fixture: &Fixture, method: &str, path: &str, body: &str) -> Answer {
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    fixture.client.send(method, path, &headers, body.as_bytes())
}

fn changes() -> impl Iterator<Item = Request> {
    Request::of_operators().filter(|request| !request.route.is_read())
}

/// All that the public and operators read, and all records.
fn everything(fixture: &Fixture) -> String {
    let mut all = fixture.print();
    for route in routes::public_reads().chain(routes::other_reads()) {
        let path = &route.path;
        let answer = fixture.client.send("GET", path, &[("x-admin-token", ADMIN)], b"");
        writeln!(all, "{path} {} {}", answer.status, answer.text).unwrap();
    }
    all
}

fn dry_runs_change_nothing(backend: &Backend) {
    let fixture = Desk::on(backend).fixture;
    let before = everything(&fixture);
    for request in changes() {
        let place = request.route.name();
        assert!(request.route.info.takes_dry_run, "{place}");
        let answer = send(&fixture, &request, "?dry_run=true");
        assert!(matches!(answer.status, 200 | 201), "{place}: {answer:?}");
        assert_eq!(answer.json()["dryRun"], true, "{place}");
        assert_eq!(fixture.print(), before[..fixture.print().len()], "{place}");
        for bad in ["?dry_run=1", "?dry_run", "?dry_run=True", "?dry_run=true&dry_run=false"] {
            let refused = send(&fixture, &request, bad);
            assert_eq!(refused.header("swarm-error"), Some("invalid-query"), "{place}{bad}");
            assert_eq!((refused.status, &refused.json()["error"]), (400, &"invalid query".into()));
        }
        let headers = [("x-admin-token", "nobody")];
        let path = format!("{}?dry_run=true", request.path);
        let refused = fixture.client.send(request.route.method(), &path, &headers, b"");
        assert_eq!(refused.status, 401, "{place}");
    }
    assert_eq!(everything(&fixture), before);
}

/// Status and body are those of the change, but for what is minted.
#[test]
fn dry_run_answers_like_the_change() {
    for request in changes() {
        let place = request.route.name();
        let fixture = Desk::start().fixture;
        let dry = send(&fixture, &request, "?dry_run=true");
        let committed = send(&fixture, &request, "?dry_run=false");
        assert_eq!(dry.status, committed.status, "{place}");
        let mut expected = committed.json();
        let minted: &[&str] = match request.route.info.path {
            "/api/swarm/admin/sessions" => &["session", "id"],
            "/api/swarm/admin/subjects/{id}/snapshots" => &["snapshot", "id"],
            "/api/swarm/admin/sessions/{id}/brief" => &["brief", "id"],
            "/api/swarm/admin/mail/test" => &["message", "id"],
            "/api/swarm/admin/webhooks/test" => &["delivery", "id"],
            "/api/swarm/admin/rotate-key" => &["token"],
            "/api/ic/admin/members" | "/api/ic/admin/members/{id}/rotate-key" => &["api_key"],
            _ => &[],
        };
        assert_eq!(expected.get("dryRun"), None, "{place}");
        expected["dryRun"] = json!(true);
        match minted {
            [field] => expected[field] = Value::Null,
            [object, field] => expected[object][field] = Value::Null,
            _ => {}
        }
        let mut dry = dry.json();
        assert!(dry["cautions"].is_array(), "{place}");
        dry.as_object_mut().unwrap().remove("cautions");
        assert_eq!(dry, expected, "{place}");
    }
}

fn dry_run_reads_refusals_as_ever(backend: &Backend) {
    let fixture = Desk::on(backend).fixture;
    let m = fixture.client.get("/api/swarm/members/m").expect(200).json();
    let key = m["publicKey"].clone();
    let early = json!({ "windowClosesAt": "1970-01-01T00:00:00Z" });
    let grace = fixture.client.get("/api/swarm/members").expect(200).json()["members"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "Grace")
        .unwrap()["id"]
        .clone();
    let admin = "/api/swarm/admin";
    for (method, path, body, status, error) in [
        ("POST", "/sessions/1/withdraw", json!({}), 409, "takes are on file"),
        ("POST", "/sessions/9/withdraw", json!({}), 404, "no such session"),
        ("PATCH", "/sessions/1", early, 409, "a take on file was filed after that deadline"),
        ("PATCH", "/sessions/1", json!({ "quorums": 1 }), 400, "invalid request"),
        (
            "POST",
            "/sessions/1/state",
            json!({ "state": "published" }),
            409,
            "session is collecting",
        ),
        ("POST", "/sessions/1/brief", json!({}), 409, "brief already published"),
        ("POST", "/sessions/3/roster", json!({ "members": [] }), 409, "roster already frozen"),
        ("POST", "/reject", json!({ "memberId": "m" }), 409, "member is claimed"),
        ("POST", "/rotate-key", json!({ "memberId": grace }), 409, "member is approved"),
        ("POST", "/activate", json!({ "memberId": "nobody" }), 404, "no such member"),
        ("POST", "/outbox/9/retry", Value::Null, 404, "no such message"),
        ("POST", "/memos/9/retract", Value::Null, 404, "no such memo"),
    ] {
        let (path, body) = (format!("{admin}{path}"), body.to_string());
        let dry = send_to(&fixture, method, &format!("{path}?dry_run=true"), &body);
        assert_eq!((dry.status, &dry.json()["error"]), (status, &error.into()), "{method} {path}");
        let refused = send_to(&fixture, method, &path, &body);
        assert_eq!(dry.text, refused.text, "{method} {path}");
    }
    // A key that another member holds.
    fixture.client.operate("/activate", &json!({ "memberId": "activate" })).expect(200);
    let other = fixture.author();
    let rotation = json!({ "memberId": other.id.as_str(), "publicKey": key });
    let refused = fixture.client.operate("/rotate-key?dry_run=true", &rotation).expect(409).json();
    assert_eq!(
        (&refused["error"], &refused["memberId"]),
        (&"public key already registered".into(), &"m".into())
    );
}

/// The activation of a member whose key has applied again rejects that application, but not in a dry run.
fn dry_run_of_a_competing_activation_rejects_nobody(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let (first, key) = Author::apply(client, "Ada");
    client.operate("/reject", &json!({ "memberId": first.as_str() })).expect(200);
    let again = key.sign(swarm_core::domain::Application {
        name: swarm_core::domain::Name::parse("Ada").unwrap(),
        contact: swarm_core::domain::Contact::parse("ada@test.example").unwrap(),
        lens: swarm_core::domain::Lens::parse("").unwrap(),
        public_key: key.public_key().to_string(),
    });
    let again = crate::harness::signed_text(&again);
    let again = client.post("/api/swarm/apply", &[], &again).expect(201).json()["memberId"].clone();
    let body = json!({ "memberId": first.as_str() });
    let dry = client.operate("/activate?dry_run=true", &body).expect(200).json();
    assert_eq!((&dry["state"], &dry["dryRun"]), (&json!("approved"), &json!(true)));
    let state = |id: &str| {
        client.get(&format!("/api/swarm/apply/{id}")).expect(200).json()["state"].clone()
    };
    assert_eq!(state(first.as_str()), "rejected");
    assert_eq!(state(again.as_str().unwrap()), "applied");
    client.operate("/activate", &body).expect(200);
    assert_eq!(state(again.as_str().unwrap()), "rejected");
}
