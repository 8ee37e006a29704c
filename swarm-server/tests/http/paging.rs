//! Paged lists: all pages together contain each item once, for any page size.

use serde_json::{Value, json};
use swarm_client::path_segment;

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author};

on_every_store! {
    takes_are_paged,
    applications_are_paged,
    messages_are_paged,
    subjects_are_paged,
    subject_pages_end_at_four_mebibytes,
}

const DATE: &str = "2026-11-21";

fn ids(list: &Value) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
}

/// By the bytes of their ids; the page for people and the guides list them too.
fn subjects_are_paged(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ids = ["A/b", "a b", "ab", "b", "\u{e9}"];
    for id in ["b", "\u{e9}", "ab", "A/b", "a b"] {
        client.operate("/subjects", &json!({ "id": id, "name": id })).expect(201);
    }
    let whole = client.get("/api/swarm/subjects").expect(200).json();
    assert_eq!(self::ids(&whole["subjects"]), ids);
    assert_eq!(whole.get("nextAfter"), None);
    for limit in 1..=6 {
        let (mut covered, mut query) = (Vec::new(), format!("limit={limit}"));
        loop {
            let page = client.get(&format!("/api/swarm/subjects?{query}")).expect(200).json();
            let subjects = page["subjects"].as_array().unwrap().clone();
            covered.extend(subjects.iter().cloned());
            let Some(next) = page.get("nextAfter") else { break };
            assert_eq!((subjects.len(), next), (limit, &subjects[limit - 1]["id"]));
            let next = path_segment(next.as_str().unwrap());
            query = format!("limit={limit}&after={next}");
        }
        assert_eq!(json!(covered), whole["subjects"], "limit {limit}");
    }
    for bad in ["limit=0", "limit=501", "limit=x", "after="] {
        client.get(&format!("/api/swarm/subjects?{bad}")).unread(400, "invalid query");
    }
    let html = [("accept", "text/html")];
    let page = client.send("GET", "/swarm/subjects?after=ab", &html, b"").expect(200).text;
    assert!(page.contains("/swarm/subjects/b") && !page.contains("/swarm/subjects/ab"), "{page}");
    let guide = client.get("/llms.txt").expect(200).text;
    assert!(guide.contains("`a b`, `ab`, `b`"), "{guide}");
}

fn subject_pages_end_at_four_mebibytes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let note = "n".repeat(230_000);
    for number in 10..30 {
        let subject = json!({ "id": format!("s{number}"), "name": "s", "structuralNotes": [note] });
        fixture.client.operate("/subjects", &subject).expect(201);
    }
    let first = fixture.client.get("/api/swarm/subjects").expect(200).json();
    assert_eq!((ids(&first["subjects"]).len(), &first["nextAfter"]), (18, &json!("s27")));
    let last = fixture.client.get("/api/swarm/subjects?after=s27").expect(200).json();
    assert_eq!(
        (ids(&last["subjects"]), last.get("nextAfter")),
        (vec![json!("s28"), json!("s29")], None)
    );
    let guide = fixture.client.get("/llms.txt").expect(200).text;
    assert!(guide.contains("`s10`") && guide.contains("`s29`"), "{guide}");
}

fn takes_are_paged(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let session = fixture.convene(DATE, "aurora");
    let path = format!("/api/swarm/sessions/{session}");
    for member in 0..5 {
        let author = fixture.author();
        for _ in 0..=member % 2 {
            fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
        }
    }
    let whole = fixture.client.get(&path).expect(200).json();
    assert_eq!(ids(&whole["takes"]), [1, 3, 4, 6, 7].map(Value::from));
    assert_eq!(whole.get("nextAfter"), None);
    for limit in 1..=6 {
        let (mut covered, mut query) = (Vec::new(), format!("limit={limit}"));
        loop {
            let page = fixture.client.get(&format!("{path}?{query}")).expect(200).json();
            assert_eq!(page["session"], whole["session"]);
            let takes = page["takes"].as_array().unwrap().clone();
            covered.extend(takes.iter().cloned());
            let Some(next) = page.get("nextAfter") else { break };
            assert_eq!((takes.len(), next), (limit, &takes[limit - 1]["id"]));
            query = format!("limit={limit}&after={next}");
        }
        assert_eq!(Value::from(covered), whole["takes"], "by {limit}");
    }
    let rest = fixture.client.get(&format!("{path}?after=4")).expect(200).json();
    assert_eq!(ids(&rest["takes"]), [6, 7].map(Value::from));
    for bad in ["limit=0", "limit=501", "limit=", "limit=1&after=x", "after=-1", "after="] {
        let answer = fixture.client.get(&format!("{path}?{bad}"));
        let (name, rule) = match bad.rsplit('&').next().unwrap().split_once('=').unwrap() {
            ("limit", _) => ("limit", "must be a whole number from 1 to 500"),
            (name, _) => (name, "must be a position that the list gave"),
        };
        assert_eq!(answer.header("swarm-hint"), Some(&*format!("{name}: {rule}")));
        answer.unread(400, "invalid query");
    }
    fixture.client.get("/api/swarm/sessions/99?limit=1").refused(404, "no such session");
}

fn applications_are_paged(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let applied: Vec<_> =
        (0..5).map(|number| Author::apply(&fixture.client, &number.to_string()).0).collect();
    let member = json!({ "memberId": applied[0].as_str() });
    fixture.client.operate("/activate", &member).expect(200);
    let mut all: Vec<_> = applied.iter().map(|id| id.to_string()).collect();
    all.sort();
    let waiting: Vec<_> = all.iter().filter(|id| **id != applied[0].as_str()).cloned().collect();
    let read = |query: &str| {
        let path = format!("/api/swarm/admin/applications?{query}");
        fixture.client.send("GET", &path, &[("x-admin-token", ADMIN)], b"")
    };
    for (state, expected) in [("", &all), ("&state=applied", &waiting)] {
        let (mut covered, mut query) = (Vec::new(), format!("limit=2{state}"));
        loop {
            let page = read(&query).expect(200).json();
            covered.extend(ids(&page["applications"]));
            let Some(next) = page["nextAfter"].as_str() else { break };
            assert_eq!(covered.last().unwrap(), next);
            query = format!("limit=2&after={next}{state}");
        }
        assert_eq!(covered, expected.iter().map(|id| json!(id)).collect::<Vec<_>>());
    }
    assert_eq!(ids(&read("").expect(200).json()["applications"]).len(), 5);
    for bad in ["limit=0", "limit=501", "after="] {
        read(bad).unread(400, "invalid query");
    }
}

fn messages_are_paged(backend: &Backend) {
    let fixture = Fixture::on(backend);
    for number in 0..5 {
        let (applicant, _) = Author::apply(&fixture.client, &number.to_string());
        let member = json!({ "memberId": applicant.as_str() });
        fixture.client.operate("/activate", &member).expect(200);
    }
    let read = |query: &str| {
        let path = format!("/api/swarm/admin/outbox{query}");
        fixture.client.send("GET", &path, &[("x-admin-token", ADMIN)], b"")
    };
    let whole = read("").expect(200).json();
    assert_eq!(ids(&whole["messages"]), [1, 2, 3, 4, 5].map(Value::from));
    assert_eq!(whole.get("nextAfter"), None);
    let first = read("?limit=3").expect(200).json();
    assert_eq!((ids(&first["messages"]).len(), &first["nextAfter"]), (3, &json!(3)));
    let rest = read("?limit=2&after=3").expect(200).json();
    assert_eq!((ids(&rest["messages"]), rest.get("nextAfter")), (vec![json!(4), json!(5)], None));
    for bad in ["limit=0", "limit=501", "after=x", "after=-1"] {
        read(&format!("?{bad}")).unread(400, "invalid query");
    }
}
