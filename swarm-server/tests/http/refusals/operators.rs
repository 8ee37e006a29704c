//! Refusals of operators' requests, and what operators and the public see of members.

use serde_json::{Value, json};

use crate::committee_fixture;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author};
use crate::raw_http::ONCE;
use crate::routes;

const STATES: [&str; 5] = ["applied", "approved", "claimed", "rejected", "inactive"];

#[test]
fn admin_routes_need_the_token() {
    let (fixture, author) = Fixture::with_records();
    let before = fixture.print();
    let longer = format!("{ADMIN}x");
    let bearer = author.bearer();
    let none: &[(&str, &str)] = &[];
    for route in routes::of_operators() {
        let (method, path) = (route.method(), route.path.as_str());
        for credential in [
            none,
            &[("x-admin-token", "")],
            &[("x-admin-token", "adm_of_the_test")],
            &[("x-admin-token", &longer)],
            &[("x-admin-token", "ADM_OF_THE_TESTS")],
            &[("authorization", &format!("Bearer {ADMIN}"))],
            &[("authorization", &bearer)],
            &[("x-ic-key", committee_fixture::KEY)],
        ] {
            for body in ["{}", "{", ""] {
                let mut headers = vec![ONCE, ("content-type", "application/json")];
                headers.extend_from_slice(credential);
                let body = if route.is_read() { "" } else { body };
                let answer = fixture.client.send(method, path, &headers, body.as_bytes());
                assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
                let error = "admin token required";
                if path.starts_with("/api/ic/") {
                    answer.unread(401, error);
                } else {
                    answer.refused(401, error);
                }
            }
        }
    }
    assert_eq!(fixture.print(), before);
}

/// Checks that the answer names the invalid field.
#[track_caller]
fn invalid(answer: Answer, field: &str) {
    let body = answer.expect(400).json();
    let detail = body["detail"].as_str().unwrap_or_else(|| panic!("no detail: {body}"));
    assert!(detail.contains(field), "{detail} does not name {field}");
    let expected =
        json!({ "ok": false, "status": 400, "error": "invalid request", "detail": detail });
    assert_eq!(body, expected);
}

#[test]
fn invalid_fields_are_named() {
    let fixture = Fixture::start();
    fixture.convene("2026-11-21", "aurora");
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let before = fixture.print();
    let long = "x".repeat(101);
    for path in ["/activate", "/reject", "/deactivate"] {
        for body in [json!({}), json!({ "memberId": 1 }), json!({ "memberId": long })] {
            invalid(client.operate(path, &body), "memberId");
        }
        for body in [json!([]), json!(null), json!("memberId"), json!(1)] {
            invalid(client.operate(path, &body), "body");
        }
    }
    let subject = json!({ "id": "s", "name": "S" });
    for (field, value) in [
        ("id", json!(null)),
        ("id", json!("")),
        ("id", json!(long)),
        ("name", json!(null)),
        ("status", json!(1)),
        ("wallets", json!([1])),
        ("nftContracts", json!({})),
        ("structuralNotes", json!([{}])),
        ("lastReviewed", json!("2026-02-30")),
        ("homepage", json!(false)),
    ] {
        let mut body = subject.clone();
        body[field] = value;
        invalid(client.operate("/subjects", &body), field);
    }
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora" });
    let twice = json!([{ "memberId": "m" }, { "memberId": "m", "excused": true }]);
    for (field, value) in [
        ("date", json!(null)),
        ("date", json!("2026-02-30")),
        ("date", json!("2026-11-21T00:00:00Z")),
        ("subjectId", json!("")),
        ("state", json!("window_closed")),
        ("state", json!("Collecting")),
        ("windowClosesAt", json!("2026-11-21")),
        ("windowClosesAt", json!("tomorrow")),
        ("windowClosesAt", json!(1_700_000_000)),
        ("quorum", json!(-1)),
        ("quorum", json!(1.5)),
        ("quorum", json!("1")),
        ("bucket", json!([""])),
        ("buckets", json!(["a", "a"])),
        ("buckets", json!("a")),
        ("roster", twice.clone()),
        ("memberId", json!(null)),
    ] {
        let mut body = session.clone();
        match field {
            "memberId" => body["roster"] = json!([{ "memberId": value }]),
            "bucket" => body["buckets"] = value,
            field => body[field] = value,
        }
        invalid(client.operate("/sessions", &body), field);
    }
    invalid(client.operate("/sessions/1/state", &json!({})), "state");
    invalid(client.operate("/sessions/1/state", &json!({ "state": "closed" })), "state");
    invalid(client.operate("/sessions/1/roster", &json!({})), "members");
    invalid(client.operate("/sessions/1/roster", &json!({ "members": twice })), "members");
    invalid(client.operate("/sessions/1/roster", &json!({ "members": [{}] })), "memberId");
    invalid(client.operate("/sessions/1/roster/excuse", &json!({ "memberId": "m" })), "excused");
    let body = json!({ "memberId": "m", "excused": "yes" });
    invalid(client.operate("/sessions/1/roster/excuse", &body), "excused");
    let headers = [("x-admin-token", ADMIN)];
    let path = "/api/swarm/admin/applications?state=active";
    invalid(client.send("GET", path, &headers, b""), "state");
    assert_eq!(fixture.print(), before);
}

/// Snapshots, regimes, signals, briefs and keys.
#[test]
fn invalid_fields_of_other_requests_are_named() {
    const DATE: &str = "2026-11-21";
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.convene(DATE, "aurora");
    let before = fixture.print();
    let snapshots = "/subjects/aurora/snapshots";
    let long = "k".repeat(201);
    for (path, field, body) in [
        (snapshots, "date", json!({})),
        (snapshots, "date", json!({ "date": "2026-02-30" })),
        (snapshots, "totalValueUsd", json!({ "date": DATE, "totalValueUsd": "1" })),
        (snapshots, "notable", json!({ "date": DATE, "notable": [1] })),
        (snapshots, "token", json!({ "date": DATE, "positions": [{}] })),
        ("/regime", "date", json!({ "date": "today" })),
        ("/regime", "composite", json!({ "date": DATE, "composite": "high" })),
        ("/regime", "macro_regime", json!({ "date": DATE, "macro_regime": 1 })),
        ("/signals", "signal_key", json!({ "date": DATE, "signal_key": "", "payload": 1 })),
        ("/signals", "signal_key", json!({ "date": DATE, "signal_key": long, "payload": 1 })),
        ("/signals", "date", json!({ "signal_key": "k", "payload": 1 })),
        ("/signals", "payload", json!({ "date": DATE, "signal_key": "k" })),
        ("/signals", "payload", json!({ "date": DATE, "signal_key": "k", "payload": null })),
        ("/sessions/1/brief", "system", json!({ "prompt": { "system": 1, "user": "u" } })),
        ("/sessions/1/brief", "user", json!({ "prompt": { "system": "s" } })),
        ("/rotate-key", "memberId", json!({})),
        ("/rotate-key", "publicKey", json!({ "memberId": "m", "publicKey": "weak" })),
    ] {
        invalid(client.operate(path, &body), field);
    }
    assert_eq!(fixture.print(), before);
}

#[test]
fn unknown_records_are_404() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let member = json!({ "memberId": "nobody" });
    for path in ["/activate", "/reject", "/deactivate"] {
        client.operate(path, &member).refused(404, "no such member");
    }
    let session = json!({ "date": "2026-11-21", "subjectId": "nothing" });
    client.operate("/sessions", &session).refused(404, "no such subject");
    let excuse = json!({ "memberId": "m", "excused": true });
    for id in ["1", "0", "01", "x", "18446744073709551616"] {
        let path = |rest: &str| format!("/sessions/{id}{rest}");
        let answer = client.operate(&path("/state"), &json!({ "state": "published" }));
        answer.refused(404, "no such session");
        let answer = client.operate(&path("/roster"), &json!({ "members": [] }));
        answer.refused(404, "no such session");
        client.operate(&path("/roster/excuse"), &excuse).refused(404, "no such session");
        let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
        let path = format!("/api/swarm/admin/sessions/{id}");
        client.send("PATCH", &path, &headers, b"{}").refused(404, "no such session");
    }
}

#[test]
fn retracting_an_unknown_memo_is_404() {
    let fixture = Fixture::start();
    for id in ["1", "0", "01", "x", "18446744073709551616"] {
        let answer = fixture.client.operate(&format!("/memos/{id}/retract"), &json!({}));
        answer.refused(404, "no such memo");
    }
}

/// Creates a member and brings it to this state.
fn member_in(fixture: &Fixture, state: &str) -> Value {
    let client = &fixture.client;
    let (id, key) = Author::apply(client, "A");
    let member = json!({ "memberId": id.as_str() });
    let operate = |path| client.operate(path, &member).expect(200);
    match state {
        "rejected" => drop(operate("/reject")),
        "approved" | "claimed" | "inactive" => drop(operate("/activate")),
        _ => {}
    }
    match state {
        "claimed" => drop(Author::claim(client, &id, &key).expect(201)),
        "inactive" => drop(operate("/deactivate")),
        _ => {}
    }
    let status = client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
    assert_eq!(status["state"], state);
    member
}

/// Every transition from every state.
#[test]
fn member_state_transitions() {
    let fixture = Fixture::start();
    for from in STATES {
        for (path, to) in [
            ("/activate", if from == "claimed" { "claimed" } else { "approved" }),
            ("/reject", "rejected"),
            ("/deactivate", "inactive"),
        ] {
            let member = member_in(&fixture, from);
            let allowed = match path {
                "/activate" => true,
                "/reject" => from == "applied",
                _ => matches!(from, "approved" | "claimed"),
            };
            let answer = fixture.client.operate(path, &member);
            let id = member["memberId"].as_str().unwrap();
            if allowed {
                let expected = json!({ "ok": true, "status": 200, "memberId": id, "state": to });
                assert_eq!(answer.expect(200).json(), expected, "{from} {path}");
            } else {
                answer.refused(409, &format!("member is {from}"));
            }
            let state = fixture.client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
            assert_eq!(state["state"], if allowed { to } else { from });
        }
    }
}

#[test]
fn only_claimed_members_can_rotate_their_token() {
    let fixture = Fixture::start();
    for state in STATES {
        let member = member_in(&fixture, state);
        let answer = fixture.client.operate("/rotate-key", &member);
        match state {
            "claimed" => drop(answer.expect(200)),
            _ => answer.refused(409, &format!("member is {state}")),
        }
    }
}

#[test]
fn first_activation_queues_one_mail() {
    let fixture = Fixture::start();
    let member = member_in(&fixture, "rejected");
    let outbox = || {
        let headers = [("x-admin-token", ADMIN)];
        let read = fixture.client.send("GET", "/api/swarm/admin/outbox", &headers, b"");
        read.expect(200).json()["messages"].as_array().unwrap().clone()
    };
    assert_eq!(outbox().len(), 0);
    for path in ["/activate", "/activate", "/deactivate", "/activate"] {
        fixture.client.operate(path, &member).expect(200);
    }
    let messages = outbox();
    assert_eq!(messages.len(), 1);
    assert_eq!(
        (&messages[0]["to"], &messages[0]["state"]),
        (&json!("A@test.example"), &json!("queued"))
    );
    for field in ["id", "subject", "body", "queuedAt"] {
        assert!(messages[0].get(field).is_some(), "{field} is missing: {}", messages[0]);
    }
}

/// A member that was never activated is 404; an inactive one is readable, but not listed.
#[test]
fn members_visible_by_state() {
    let fixture = Fixture::start();
    for state in STATES {
        let member = member_in(&fixture, state);
        let id = member["memberId"].as_str().unwrap();
        let one = fixture.client.get(&format!("/api/swarm/members/{id}"));
        let list = fixture.client.get("/api/swarm/members").expect(200).json();
        let listed = list["members"].as_array().unwrap().iter().any(|member| member["id"] == id);
        assert_eq!(listed, matches!(state, "approved" | "claimed"), "{state}");
        if matches!(state, "applied" | "rejected") {
            one.refused(404, "no such member");
        } else {
            let status = if state == "inactive" { "inactive" } else { "active" };
            let expected = json!({
                "id": id, "name": "A", "lens": "", "status": status,
                "publicKey": one.json()["publicKey"], "joinedAt": fixture.clock.after(0),
            });
            assert_eq!(one.expect(200).json(), expected);
        }
    }
}

#[test]
fn operators_see_complete_applications() {
    let fixture = Fixture::start();
    let (id, key) = Author::apply(&fixture.client, "Ada");
    let list = |state: &str| {
        let path = format!("/api/swarm/admin/applications?state={state}");
        let read = fixture.client.send("GET", &path, &[("x-admin-token", ADMIN)], b"");
        read.expect(200).json()
    };
    let application = json!({
        "id": id.as_str(), "state": "applied", "name": "Ada", "contact": "Ada@test.example",
        "lens": "", "publicKey": key.public_key(), "appliedAt": fixture.clock.after(0),
        "reviewedAt": null, "claimedAt": null,
    });
    assert_eq!(list("applied"), json!({ "applications": [application] }));
    assert_eq!(list("approved"), json!({ "applications": [] }));
}

/// Subjects, snapshots and memos contain all fields, also those that were not sent.
#[test]
fn records_contain_all_fields() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let now = fixture.clock.after(0);
    let author = fixture.author();
    for (id, reviewed) in [("bare", json!(null)), ("reviewed", json!("2026-11-20"))] {
        let mut sent = json!({ "id": id, "name": "A" });
        if !reviewed.is_null() {
            sent["lastReviewed"] = reviewed.clone();
        }
        client.operate("/subjects", &sent).expect(201);
        let expected = json!({
            "id": id, "status": "active", "name": "A", "operator": null, "homepage": null,
            "xHandle": null, "thesisBlurb": null, "wallets": [], "nftContracts": [],
            "source": null, "recommendationType": null, "linkedMemberId": null,
            "structuralNotes": [], "lastReviewed": reviewed,
        });
        assert_eq!(client.get(&format!("/api/swarm/subjects/{id}")).expect(200).json(), expected);
    }
    client.operate("/subjects/bare/snapshots", &json!({ "date": "2026-11-19" })).expect(201);
    let bearer = author.bearer();
    let memo = r#"{ "title": "T", "body": "B" }"#;
    client.post("/api/swarm/memos", &[("authorization", &bearer)], memo).expect(201);
    fixture.clock.move_by(60_000);
    let listed = client.get("/api/swarm/subjects/bare/snapshots").expect(200).json();
    let snapshot = json!({
        "id": 1, "subjectId": "bare", "date": "2026-11-19", "totalValueUsd": null, "positions": [],
        "notable": [], "createdAt": now,
    });
    assert_eq!(listed, json!({ "snapshots": [snapshot] }));
    let memo = json!({
        "id": 1, "memberId": author.id.as_str(), "title": "T", "body": "B", "subjectId": null,
        "sessionId": null, "publishedAt": now,
    });
    assert_eq!(client.get("/api/swarm/memos/1").expect(200).json(), memo);
}
