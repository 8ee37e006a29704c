//! Refusals of the HTTP layer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use swarm_http::Site;

use crate::committee_fixture;
use crate::desk::Desk;
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer, Server, services, tenant};
use crate::raw_http::{self, ONCE};
use crate::routes;

/// A fixture with a record of each kind.
pub(super) fn with_records() -> Fixture {
    Fixture::with_records().0
}

#[track_caller]
pub(super) fn is_error(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body = answer.json();
    let error = body["error"].as_str().unwrap_or_else(|| panic!("no error: {body}"));
    assert_eq!(body, json!({ "error": error }));
}

#[test]
fn other_methods_are_not_allowed() {
    let fixture = with_records();
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for route in routes::all() {
        let methods = known.entry(route.path.split('?').next().unwrap()).or_default();
        methods.insert(route.method());
        methods.extend(route.is_read().then_some("HEAD"));
    }
    for (path, methods) in known {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if methods.contains(method) {
                continue;
            }
            let head = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
            let answer = raw_http::exchange(fixture.server.address, head.as_bytes());
            let allow: BTreeSet<_> =
                answer.header("allow").unwrap_or_default().split(", ").collect();
            let all: BTreeSet<_> = methods.iter().copied().chain(["OPTIONS"]).collect();
            assert_eq!(allow, all, "{method} {path}: {answer:?}");
            if method != "HEAD" {
                is_error(&answer, 405);
            }
        }
    }
}

#[test]
fn unknown_paths_are_not_found() {
    let fixture = with_records();
    for path in [
        "/api",
        "/api/swarm",
        "/api/swarm/",
        "/api/swarm/Members",
        "/api/swarm/members/",
        "/api/swarm/members/m/x",
        "/api//swarm/members",
        "/api/swarm/Takes",
        "/swarm/takes/",
        "/api/swarm/sessions/2026-11-21/aurora/x",
        "/api/swarm/sessions/2026-11-21/",
        "/api/swarm/admin",
        "/api/swarm/admin/nothing",
        "/favicon.ico",
        "/api/swarm/members/%ff",
        "/api/swarm/../swarm/members",
        "/api/swarm/%6dembers",
        "/mcp",
        "/api/ic",
        "/api/ic/submit/",
        "/api/ic/Sessions",
        "/api/ic/sessions/",
        "/api/ic/sessions/2026-11-21/aurora",
        "/api/ic/sessions/%ff",
        "/api/ic/admin",
        "/api/ic/admin/members/m",
        "/api/ic/admin/members/m/status/x",
        "/api/ic/admin/members//status",
        "/api/v2/ic/submit",
        "/data/committee/briefs/today",
        "/data/committee/briefs/today/",
        "/data/committee/briefs/today/%ff.json",
        "/data/committee/briefs/today/m/x.json",
        "/data/committee/briefs/2026-11-21/m.json",
    ] {
        is_error(&fixture.client.get(path), 404);
        is_error(&fixture.client.post(path, &[ONCE, ("x-admin-token", ADMIN)], "{}"), 404);
    }
}

#[test]
fn content_type_must_be_json() {
    let fixture = with_records();
    let before = fixture.print();
    let author = fixture.author();
    let bearer = author.bearer();
    for (route, _) in routes::with_json_body() {
        let (method, path) = (route.method(), route.path.as_str());
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data; boundary=x"),
            Some("application/jsonp"),
            Some(""),
        ] {
            let mut headers = vec![
                ONCE,
                ("authorization", &*bearer),
                ("x-admin-token", ADMIN),
                ("x-ic-key", committee_fixture::KEY),
            ];
            headers.extend(kind.map(|kind| ("content-type", kind)));
            is_error(&fixture.client.send(method, path, &headers, b"{}"), 415);
        }
        let kind = "Application/JSON; charset=utf-8";
        let headers = [
            ("authorization", &*bearer),
            ("x-admin-token", ADMIN),
            ("x-ic-key", committee_fixture::KEY),
            ("content-type", kind),
        ];
        is_error(&fixture.client.send(method, path, &headers, b"{"), 400);
    }
    fixture.change(&author.id, |_| {});
    assert!(fixture.print().starts_with(before.lines().next().unwrap()));
}

#[test]
fn optional_body_may_be_empty_with_any_content_type() {
    for kind in [None, Some("text/plain"), Some("application/json")] {
        let desk = Desk::start();
        let mut headers = vec![("x-admin-token", ADMIN)];
        headers.extend(kind.map(|kind| ("content-type", kind)));
        for request in desk.requests() {
            if request.route.info.body.as_ref().is_some_and(|body| body.is_optional) {
                let (method, path) = (request.route.method(), &request.path);
                let answer = desk.fixture.client.send(method, path, &headers, b"");
                assert!(matches!(answer.status, 200 | 201), "{method} {path}: {answer:?}");
            }
        }
    }
}

#[test]
fn request_must_name_one_host() {
    let fixture = with_records();
    let ask = |hosts: &str| {
        let head = format!("GET /api/swarm/members HTTP/1.1\r\n{hosts}\r\n");
        raw_http::exchange(fixture.server.address, head.as_bytes())
    };
    ask("Host: a\r\n").expect(200);
    for hosts in [
        "",
        "Host: a\r\nHost: b\r\n",
        "Host: a\r\nHost: a\r\n",
        "Host:\r\n",
        "Host: a b\r\n",
        "Host: user@a\r\n",
        "Host: a/b\r\n",
        "Host: \"a\"\r\n",
        "Host: <a>\r\n",
        "Host: a\u{e4}\r\n",
        "Host: a:port\r\n",
        "Host: a, b\r\n",
        "Host: :80\r\n",
    ] {
        let answer = ask(hosts);
        assert_eq!(answer.status, 400, "{hosts:?}: {answer:?}");
        is_error(&answer, 400);
    }
}

#[test]
fn unknown_host_is_421() {
    let acme = tenant("acme", ADMIN, &["acme.example"]);
    let site = Site::by_host(services(&Clock::noon().store()), [acme]).unwrap();
    let server = Server::of(site);
    let client = server.client().at("other.example");
    for route in routes::all() {
        let headers = [ONCE, ("content-type", "application/json"), ("x-admin-token", ADMIN)];
        let body: &[u8] = if route.is_read() { b"" } else { b"{}" };
        let answer = client.send(route.method(), &route.path, &headers, body);
        if route.info.is_of_server {
            answer.expect(200);
        } else {
            answer.unread(421, "unknown host");
        }
    }
}

/// After an answer that precedes the body, the connection either serves the next request, or the answer
/// announces that it closes. Otherwise a client with keep-alive would lose its next request.
#[test]
fn early_answers_keep_the_connection_usable_or_close_it() {
    let fixture = with_records();
    for (path, headers, status) in [
        ("/api/swarm/submit", "Content-Type: application/json\r\n", 401),
        ("/api/swarm/admin/subjects", "Content-Type: application/json\r\n", 401),
        ("/api/swarm/apply", "Content-Type: text/plain\r\n", 415),
        ("/api/swarm/members", "Content-Type: application/json\r\n", 405),
        ("/api/ic/submit", "Content-Type: application/json\r\n", 401),
        ("/api/ic/admin/briefs", "Content-Type: application/json\r\n", 401),
        ("/nothing", "Content-Type: application/json\r\n", 404),
    ] {
        let mut connection = raw_http::Connection::open(fixture.server.address);
        let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}Content-Length: 2\r\n\r\n");
        connection.send(head.as_bytes()).unwrap();
        let answer = connection.receive(false).unwrap().expect(status);
        if answer.header("connection") == Some("close") {
            continue;
        }
        let _ = connection.send(b"{}GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        let next = connection.receive(false);
        assert!(next.is_ok_and(|next| next.status == 200), "POST {path}: lost after {answer:?}");
    }
}

#[test]
fn target_without_a_path_is_refused() {
    let fixture = with_records();
    for target in ["CONNECT a:80", "GET a", "POST a:443", "OPTIONS *"] {
        let head = format!("{target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let answer = raw_http::exchange(fixture.server.address, head.as_bytes());
        assert!((400..500).contains(&answer.status), "{target}: {answer:?}");
    }
    fixture.client.get("/healthz").expect(200);
}
