//! Limits of the size of bodies, and of the values in them.

use serde_json::json;
use swarm_core::domain::{Application, Contact, Lens, Name};

use super::requests::{is_error, with_records};
use crate::committee_fixture;
use crate::desk::Desk;
use crate::harness::{ADMIN, Author, Server, fresh_key, signed_text};
use crate::raw_http;
use crate::routes::{self, Route};

const KIB: usize = 1 << 10;

/// The largest body of a route (API.md, 1.1).
fn limit(path: &str) -> usize {
    match path {
        "/api/swarm/apply" => 64 * KIB,
        "/api/swarm/key" | "/api/swarm/token-claim" => 32 * KIB,
        "/api/swarm/token-claim/challenge" => 2 * KIB,
        "/api/swarm/memos" => 2_048 * KIB,
        _ => 256 * KIB,
    }
}

/// `size` bytes of JSON in this framing.
fn sized(route: &Route, headers: &str, size: usize, chunked: bool) -> Vec<u8> {
    let (method, path) = (route.method(), &route.path);
    let mut body = b"{}".to_vec();
    body.resize(size, b' ');
    let framing = if chunked {
        "Transfer-Encoding: chunked".to_owned()
    } else {
        format!("Content-Length: {size}")
    };
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{headers}{framing}\r\n\r\n"
    )
    .into_bytes();
    if !chunked {
        request.extend(body);
        return request;
    }
    for piece in body.chunks(10_000) {
        request.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        request.extend(piece);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    request
}

#[test]
fn body_over_the_limit_of_its_route_is_413() {
    let fixture = Desk::start().fixture;
    let bearer = fixture.author().bearer();
    let headers = format!(
        "Authorization: {bearer}\r\nX-Admin-Token: {ADMIN}\r\nX-Ic-Key: {}\r\n",
        committee_fixture::KEY
    );
    for (route, body) in routes::with_json_body() {
        let (method, path) = (route.method(), &route.path);
        let most = limit(path);
        assert_eq!(body.limit, most, "{path}");
        for chunked in [false, true] {
            let over = sized(route, &headers, most + 1, chunked);
            let answer = raw_http::exchange(fixture.server.address, &over);
            is_error(&answer, 413);
            let exact = sized(route, &headers, most, chunked);
            let answer = raw_http::exchange(fixture.server.address, &exact);
            // Where all fields are optional, the body is valid.
            assert!(matches!(answer.status, 200 | 201 | 400 | 409), "{path}: {answer:?}");
            assert_ne!(answer.json()["error"], "invalid json body", "{path}");
        }
        // Refused by its declared length; the body is never sent.
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{headers}\
             Content-Length: 99999999999\r\n\r\n"
        );
        is_error(&raw_http::exchange(fixture.server.address, head.as_bytes()), 413);
    }
}

#[test]
fn form_over_the_limit_of_its_path_is_413() {
    let server = Server::start();
    let forms = routes::all().filter(|route| route.is_of_console() && !route.is_read());
    for route in forms {
        let most = match route.path.as_str() {
            "/operate" => 8 * KIB,
            "/operate/sign-out" => KIB,
            _ => 256 * KIB,
        };
        let send = |size: usize| {
            let head = format!(
                "POST {} HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {size}\r\n\r\n",
                route.path, server.address
            );
            let request = [head.into_bytes(), vec![b'&'; size]].concat();
            raw_http::exchange(server.address, &request).status
        };
        assert_eq!(send(most + 1), 413, "{}", route.path);
        assert!(matches!(send(most), 303 | 401 | 429), "{}", route.path);
    }
}

/// A text with each of its characters written as `\uXXXX`.
fn escaped(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// A body with these members, escaped as far as JSON can escape them.
fn longest(fields: &serde_json::Value) -> String {
    let member = |(name, value): (&String, &serde_json::Value)| {
        format!("\"{}\":\"{}\"", escaped(name), escaped(value.as_str().unwrap()))
    };
    let members: Vec<_> = fields.as_object().unwrap().iter().map(member).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn largest_valid_body_is_accepted_however_it_is_escaped() {
    let fixture = with_records();
    let rockets = |count: usize| "\u{1f680}".repeat(count);
    let key = fresh_key();
    let application = key.sign(Application {
        name: Name::parse(rockets(100)).unwrap(),
        contact: Contact::parse(rockets(200)).unwrap(),
        lens: Lens::parse(rockets(2_000)).unwrap(),
        public_key: key.public_key().to_string(),
    });
    let application: serde_json::Value = serde_json::from_str(&signed_text(&application)).unwrap();
    fixture.client.post("/api/swarm/apply", &[], &longest(&application)).expect(201);
    // A signature of the longest form is refused by the rules, not by its size.
    let with_signature = |mut body: serde_json::Value| {
        body["signature"] = rockets(2_000).into();
        longest(&body)
    };
    let answer = fixture.client.post("/api/swarm/apply", &[], &with_signature(application));
    assert!(answer.expect(400).json()["expectedPayload"].is_string());

    let id = rockets(100);
    let asked = longest(&json!({ "memberId": id }));
    let given = fixture.client.post("/api/swarm/token-claim/challenge", &[], &asked).expect(200);
    let mut claim = given.json();
    claim["signature"] = "".into();
    let answer = fixture.client.post("/api/swarm/token-claim", &[], &with_signature(claim));
    assert_eq!(answer.status, 401, "{answer:?}");

    let (id, key) = Author::apply(&fixture.client, "Grace");
    fixture.client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    let proof = Author::proof(&fixture.client, &id, &key);
    let proof = longest(&serde_json::from_str(&proof).unwrap());
    fixture.client.post("/api/swarm/token-claim", &[], &proof).expect(201);
}

#[test]
fn body_of_too_many_values_is_413() {
    let fixture = Desk::start().fixture;
    let bearer = fixture.author().bearer();
    let headers = [("authorization", &*bearer)];
    // Each path of members and strangers takes more than the values of a take with five times the weights that it may have.
    let list = |count: usize| format!("{{\"unknown\":[{}1]}}", "1,".repeat(count - 1));
    for path in [
        "/api/swarm/signing-payload",
        "/api/swarm/diagnose",
        "/api/swarm/apply",
        "/api/swarm/preflight",
        "/api/swarm/submit",
        "/api/swarm/memos",
    ] {
        let status = fixture.client.post(path, &headers, &list(16_382)).status;
        assert_eq!(status, if path.ends_with("preflight") { 200 } else { 400 }, "{path}");
        let answer = fixture.client.post(path, &headers, &list(16_383));
        match path {
            // As with too many weights.
            "/api/swarm/submit" => answer.refused(400, "invalid submission"),
            _ => is_error(&answer, 413),
        }
    }
    let weights: Vec<_> =
        (0..5_000).map(|at| json!({ "bucket": format!("b{at}"), "weight": 1 })).collect();
    let author = fixture.author();
    let take = author.key.sign(author.draft("2026-11-21", "aurora"));
    let mut take: serde_json::Value = serde_json::from_str(&signed_text(&take)).unwrap();
    take["weights"] = weights.into();
    let answer = fixture.client.post("/api/swarm/submit", &headers, &take.to_string());
    assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("invalid submission")));
    // Documents of operators have any number.
    let regime = json!({ "date": "2026-11-21", "values": vec![1; 20_000] });
    fixture.client.operate("/regime", &regime).expect(200);
}
