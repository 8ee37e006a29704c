//! Errors as problem details (RFC 9457), for clients that prefer them (API.md, 1.2).

use serde_json::{Map, Value, json};
use swarm_core::wire::Problem;
use swarm_http::Access;

use crate::fixture::Fixture;
use crate::harness::{Answer, Client, Server};
use crate::raw_http::ONCE;
use crate::routes;

const PROBLEM: (&str, &str) = ("accept", "application/problem+json");

/// The problem details that the plain form of the same error becomes.
#[track_caller]
fn expected(plain: &Answer, client: &Client) -> Value {
    let code = plain.header("swarm-error").expect("an error has a code");
    let origin = format!("http://{}", client.address);
    let mut details = Map::new();
    details.insert("type".into(), format!("{origin}/docs/errors#{code}").into());
    let Value::Object(body) = plain.json() else { panic!("{plain:?}") };
    details.insert("title".into(), body["error"].clone());
    details.insert("status".into(), plain.status.into());
    details.insert("code".into(), code.into());
    if let Some(hint) = plain.header("swarm-hint") {
        details.insert("hint".into(), hint.into());
    }
    let rest = body.into_iter().filter(|(name, _)| !["ok", "status", "error"].contains(&&**name));
    details.extend(rest);
    details.into()
}

#[track_caller]
fn is_the_same_error(plain: &Answer, details: &Answer, client: &Client) {
    assert_eq!(details.status, plain.status, "{details:?}");
    assert_eq!(details.header("content-type"), Some("application/problem+json"), "{details:?}");
    assert_eq!(plain.header("content-type"), Some("application/json"), "{plain:?}");
    assert_eq!(details.json(), expected(plain, client));
    for header in ["swarm-error", "swarm-hint", "allow", "link", "retry-after", "www-authenticate"]
    {
        assert_eq!(details.header(header), plain.header(header), "{details:?}");
    }
}

/// Every route that refuses a request without credentials and without a body.
#[test]
fn every_route_answers_problem_details() {
    let (fixture, _) = Fixture::with_records();
    let client = &fixture.client;
    let refused = |method: &str, path: &str| {
        let plain = client.send(method, path, &[ONCE, ("accept", "application/json")], b"");
        let details = client.send(method, path, &[ONCE, PROBLEM], b"");
        is_the_same_error(&plain, &details, client);
    };
    for route in routes::all().filter(|route| !route.is_of_second_log()) {
        refused("DELETE", &route.path);
        let is_public = matches!(route.info.access, Access::Public | Access::PublicOrMember);
        if !(route.is_of_console() || is_public && route.is_read()) {
            refused(route.method(), &route.path);
        }
    }
    for path in ["/nowhere", "/api/swarm/takes/9", "/swarm/takes/9", "/swarm/memos/9", "/docs/none"]
    {
        refused("GET", path);
    }
    refused("GET", "/api/swarm/sessions?limit=0");
    refused("GET", "/swarm/sessions?before=x");
    // A page of the console has the code and the words of the error.
    let answer = client.send("POST", "/operate/activate", &[ONCE, PROBLEM], b"");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer:?}");
    assert_eq!(answer.json()["code"], answer.header("swarm-error").unwrap());
}

#[test]
fn problem_details_carry_the_fields_of_the_body() {
    let (fixture, author) = Fixture::with_records();
    let client = &fixture.client;
    let both = |path: &str, headers: &[(&str, &str)], body: &str| {
        let plain = client.post(path, headers, body);
        let details = client.post(path, &[headers, &[PROBLEM]].concat(), body);
        is_the_same_error(&plain, &details, client);
        details.json()
    };
    let unsigned = json!({
        "name": "Eve", "contact": "eve@test.example", "publicKey": author.key.public_key(),
        "signature": "x",
    });
    let details = both("/api/swarm/apply", &[], &unsigned.to_string());
    assert!(details["expectedPayload"].as_str().unwrap().contains("Eve"), "{details}");
    assert_eq!(details["hint"], "POST the same body to /api/swarm/diagnose");
    let text = crate::harness::signed_text(&author.key.sign(author.draft("2026-11-21", "aurora")));
    let bearer = [("authorization", &*author.bearer())];
    let filed = client.post("/api/swarm/submit", &bearer, &text).expect(201).json();
    let details = both("/api/swarm/submit", &bearer, &text);
    assert_eq!(details["recommendationId"], filed["recommendationId"]);
    let operator = [("x-admin-token", crate::harness::ADMIN)];
    let details = both("/api/swarm/admin/sessions", &operator, "{}");
    assert!(details["detail"].as_str().unwrap().contains("is missing"), "{details}");
    let details = both("/api/ic/submit", &[], "{}");
    assert_eq!(details["code"], "missing-key");
}

/// Errors of the connection layer, which has no route.
#[test]
fn errors_before_a_route_are_problem_details_too() {
    let server = Server::start();
    let ask = |head: &str| crate::raw_http::exchange(server.address, head.as_bytes());
    let problem = "Accept: application/problem+json\r\nConnection: close\r\n\r\n";
    let answer = ask(&format!("GET / HTTP/1.1\r\n{problem}")).expect(400);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer:?}");
    let missing = json!({
        "type": "/docs/errors#missing-host", "title": "missing host", "status": 400,
        "code": "missing-host",
    });
    assert_eq!(answer.json(), missing);
}

#[test]
fn page_of_errors_has_an_anchor_for_each_code() {
    let server = Server::start();
    let client = server.client();
    for path in ["/docs/errors", "/docs/codes"] {
        let page = client.get(path).expect(200).text;
        for problem in Problem::ALL {
            let anchor = format!("id=\"{}\"", problem.code());
            assert!(page.contains(&anchor), "{path} lacks {anchor}");
        }
        assert!(page.contains("/docs/errors\""), "{path} names its address");
    }
}
