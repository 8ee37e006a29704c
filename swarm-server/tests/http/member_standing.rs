//! What a member owes: `/api/swarm/me` (API.md, 4.6).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Author, Client};

on_every_store! {
    member_learns_where_it_may_file,
    code_is_the_one_that_submit_refuses_with,
}

const DATE: &str = "2026-11-21";

fn me(client: &Client, author: &Author) -> Value {
    let bearer = author.bearer();
    let answer = client.send("GET", "/api/swarm/me", &[("authorization", &bearer)], b"");
    let answer = answer.expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("etag"), None);
    answer.json()
}

/// Convenes a session about a new subject; returns its id.
fn convene(client: &Client, subject: &str, more: &Value) -> u64 {
    let fields = json!({ "id": subject, "name": subject });
    assert!(client.operate("/subjects", &fields).status < 300);
    let mut session = json!({ "date": DATE, "subjectId": subject });
    session.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client.operate("/sessions", &session).expect(201);
    answer.json()["session"]["id"].as_u64().unwrap()
}

fn member_learns_where_it_may_file(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, Author::join(&fixture.client, "Ada"));
    let unsigned = client.get("/api/swarm/me");
    assert_eq!(unsigned.header("www-authenticate"), Some("Bearer"));
    unsigned.refused(401, "missing bearer token");
    let public = client.get(&format!("/api/swarm/members/{}", author.id)).expect(200).json();
    assert_eq!(me(client, &author), json!({ "member": public, "sessions": [] }));

    let open = convene(client, "open", &json!({}));
    let late = convene(client, "late", &json!({ "windowClosesAt": "9998-01-01T00:00:00Z" }));
    let soon = convene(client, "soon", &json!({ "windowClosesAt": "9997-01-01T00:00:00Z" }));
    convene(client, "over", &json!({ "windowClosesAt": "2001-01-01T00:00:00Z" }));
    client.operate(&format!("/sessions/{late}/brief"), &json!({})).expect(201);
    client.submit(&author, author.draft(DATE, "open")).expect(201);
    let sessions = me(client, &author)["sessions"].clone();
    let first = json!({
        "id": soon, "date": DATE, "subjectId": "soon",
        "windowClosesAt": "9997-01-01T00:00:00.000Z", "state": "collecting", "practice": false,
        "brief": false, "mayFile": true, "code": null, "revision": 1, "takesLeft": 5,
    });
    assert_eq!(sessions[0], first);
    let ids: Vec<_> = sessions.as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [soon, late, open].map(Value::from));
    assert_eq!((&sessions[1]["brief"], &sessions[0]["brief"]), (&json!(true), &json!(false)));
    assert_eq!((&sessions[2]["revision"], &sessions[2]["takesLeft"]), (&json!(2), &json!(4)));

    client.operate("/deactivate", &json!({ "memberId": author.id.as_str() })).expect(200);
    let bearer = author.bearer();
    let answer = client.send("GET", "/api/swarm/me", &[("authorization", &bearer)], b"");
    answer.refused(401, "unknown member token");
}

fn code_is_the_one_that_submit_refuses_with(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let (author, other) = (Author::join(client, "Ada"), Author::join(client, "Bob"));
    let listed = |id: &str, excused: bool| json!({ "memberId": id, "excused": excused });
    let (own, others) = (author.id.as_str(), other.id.as_str());
    convene(client, "free", &json!({}));
    convene(client, "expected", &json!({ "roster": [listed(own, false)] }));
    convene(client, "unlisted", &json!({ "roster": [listed(others, false)] }));
    convene(client, "excused", &json!({ "roster": [listed(own, true)] }));
    convene(client, "full", &json!({}));
    for _ in 0..5 {
        client.submit(&author, author.draft(DATE, "full")).expect(201);
    }
    let check = || {
        let sessions = me(client, &author)["sessions"].clone();
        let sessions = sessions.as_array().unwrap().clone();
        let mut codes = Vec::new();
        for session in &sessions {
            let subject = session["subjectId"].as_str().unwrap();
            let answer = client.submit(&author, author.draft(DATE, subject));
            let code = answer.header("swarm-error").map_or(Value::Null, Value::from);
            assert_eq!(session["code"], code, "{subject}");
            assert_eq!(session["mayFile"], answer.status == 201, "{subject}");
            codes.push((subject.to_owned(), code));
        }
        codes
    };
    let codes = check();
    let code = |subject: &str| codes.iter().find(|(it, _)| it == subject).unwrap().1.clone();
    assert_eq!(code("unlisted"), "not-on-roster");
    assert_eq!(code("excused"), "excused");
    assert_eq!(code("full"), "cap-reached");
    assert_eq!((code("free"), code("expected")), (Value::Null, Value::Null));
    fixture.change(&author.id, |member| member.public_key = None);
    // Every public change appends to the log, which cached facts depend on.
    convene(client, "another", &json!({}));
    assert!(check().iter().any(|(subject, code)| subject == "free" && code == "no-key"));
}
