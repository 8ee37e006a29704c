//! Reads: caching headers, paths, pages, compression.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use swarm_core::MemberId;

use super::requests::{is_error, with_records};
use crate::committee_fixture;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Client};
use crate::raw_http;
use crate::routes;

/// The headers, without those that differ per answer.
fn headers_of(answer: &Answer) -> Vec<String> {
    let own = |name: &str| matches!(name, "date" | "x-request-id");
    let headers = answer.headers.iter().filter(|(name, _)| !own(name.as_str()));
    let mut headers: Vec<_> = headers.map(|(name, value)| format!("{name}: {value:?}")).collect();
    headers.sort();
    headers
}

#[test]
fn public_reads_are_cacheable() {
    let fixture = with_records();
    // A brief file contains the address that was requested.
    let host = fixture.server.address;
    for route in routes::public_reads() {
        let path = route.path.as_str();
        let full = fixture.client.get(path).expect(200);
        assert_eq!(full.header("access-control-allow-origin"), Some("*"), "{path}");
        let credentials = [("origin", "https://other.example"), ("cookie", "session=1")];
        for answer in [&full, &fixture.client.send("GET", path, &credentials, b"")] {
            assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
        }
        let tag = full.header("etag").unwrap_or_else(|| panic!("{path}: no ETag")).to_owned();
        let head = raw_http::exchange(
            fixture.server.address,
            format!("HEAD {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(),
        );
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(headers_of(&head), headers_of(&full), "{path}");
        for same in [tag.clone(), format!("W/{tag}"), "*".into(), format!("\"x\", {tag},\"y\"")] {
            let answer = fixture.client.send("GET", path, &[("if-none-match", &same)], b"");
            assert_eq!((answer.status, answer.text.as_str()), (304, ""), "{path} {same}");
            assert_eq!(answer.header("etag"), Some(tag.as_str()));
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        }
        let lines = [("if-none-match", "\"x\""), ("if-none-match", &tag)];
        assert_eq!(fixture.client.send("GET", path, &lines, b"").status, 304, "{path}");
        for other in ["\"x\"", "", tag.trim_matches('"')] {
            let answer = fixture.client.send("GET", path, &[("if-none-match", other)], b"");
            assert_eq!(answer.expect(200).text, full.text, "{path} {other}");
        }
    }
    // The tag changes with the content.
    let before = fixture.client.get("/api/swarm/takes/1").header("etag").map(str::to_owned);
    let author = MemberId::parse("m").unwrap();
    fixture.change(&author, |member| member.public_key = None);
    // Every public change appends to the log.
    fixture.convene("2026-11-20", "aurora");
    assert_eq!(fixture.client.get("/api/swarm/takes/1").header("etag").map(str::to_owned), before);
    let member = fixture.client.get("/api/swarm/members/m").expect(200);
    assert_eq!(member.json()["publicKey"], Value::Null);
}

#[test]
fn other_answers_are_not_cacheable() {
    let fixture = with_records();
    let bearer = fixture.author().bearer();
    let headers = [
        ("content-type", "application/json"),
        ("origin", "https://other.example"),
        ("authorization", &bearer),
        ("x-admin-token", ADMIN),
        ("x-ic-key", committee_fixture::KEY),
    ];
    let others = || routes::all().filter(|route| !route.is_public_read());
    for route in others() {
        let (method, path) = (route.method(), route.path.as_str());
        let body: &[u8] = if route.is_read() { b"" } else { b"{}" };
        let answer = fixture.client.send(method, path, &headers, body);
        let any = route.is_cross_origin().then_some("*");
        assert_eq!(answer.header("access-control-allow-origin"), any, "{path}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    for route in others() {
        let path = route.path.as_str();
        let asked = [
            ("origin", "https://other.example"),
            ("access-control-request-method", route.method()),
        ];
        let answer = fixture.client.send("OPTIONS", path, &asked, b"");
        let allowed = answer.header("access-control-allow-methods").unwrap_or_default();
        let is_allowed = allowed.split(", ").any(|method| method == route.method());
        assert_eq!(is_allowed, route.is_cross_origin(), "{path}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), None, "{path}");
    }
}

/// As a member that runs in a browser, on a page of another origin.
#[test]
fn members_may_be_pages_of_other_origins() {
    let (fixture, author) = Fixture::with_records();
    let client = &fixture.client;
    let open: Vec<_> = routes::all().filter(|route| route.is_cross_origin()).collect();
    for (method, path) in [
        ("GET", "/api/swarm/me"),
        ("GET", "/api/swarm/takes/{id}"),
        ("POST", "/api/swarm/apply"),
        ("POST", "/api/swarm/token-claim"),
        ("POST", "/api/swarm/submit"),
        ("POST", "/api/swarm/preflight"),
        ("POST", "/api/swarm/memos"),
    ] {
        let route = open.iter().find(|it| it.method() == method && it.info.path == path);
        let route = route.unwrap_or_else(|| panic!("{method} {path} is for one origin"));
        let asked = [
            ("origin", "https://other.example"),
            ("access-control-request-method", method),
            ("access-control-request-headers", "authorization, content-type"),
        ];
        let preflight = client.send("OPTIONS", &route.path, &asked, b"").expect(204);
        let listed = |header, name: &str| {
            let value = preflight.header(header).unwrap_or_default();
            value.split(", ").any(|it| it == name)
        };
        assert_eq!(preflight.header("access-control-allow-origin"), Some("*"), "{path}");
        assert!(listed("access-control-allow-methods", method), "{path}: {preflight:?}");
        for name in ["Authorization", "Cache-Control", "Content-Type", "Last-Event-ID"] {
            assert!(listed("access-control-allow-headers", name), "{path}: {preflight:?}");
        }
    }
    let bearer = author.bearer();
    let headers = [("authorization", bearer.as_str()), ("origin", "https://other.example")];
    let refused = client.post("/api/swarm/submit", &headers, "{}").expect(400);
    let own = client.send("GET", "/api/swarm/takes/1", &headers, b"").expect(200);
    let unknown = client.send("GET", "/api/swarm/takes/9", &headers[1..], b"").expect(404);
    for answer in [refused, own, unknown] {
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{answer:?}");
        let exposed = answer.header("access-control-expose-headers").unwrap();
        for name in [
            "Swarm-Error",
            "Swarm-Hint",
            "Swarm-Seal",
            "Link",
            "Retry-After",
            "Signature",
            "Signature-Input",
            "Content-Digest",
            "Content-Disposition",
        ] {
            assert!(exposed.split(", ").any(|it| it == name), "{name} is not in {exposed}");
        }
    }
}

#[test]
fn subject_ids_may_be_any_text() {
    let fixture = Fixture::start();
    for (at, (subject, path)) in [
        ("a/b", "a%2Fb"),
        ("a/b", "a%2fb"),
        ("..", "%2e%2E"),
        ("../x/./y", "..%2Fx%2F.%2Fy"),
        ("\u{6f22}\u{5b57} \u{1f602}", "%E6%BC%A2%E5%AD%97%20%F0%9F%98%82"),
        ("%2F", "%252F"),
        ("a+b", "a+b"),
        ("a b", "a%20b"),
        ("?#", "%3F%23"),
        ("\0\n", "%00%0A"),
        ("{id}", "%7Bid%7D"),
        ("e\u{301}", "e%CC%81"),
        ("\u{e9}", "%C3%A9"),
        ("1", "1"),
        ("%", "%25"),
        ("%zz", "%25zz"),
    ]
    .into_iter()
    .enumerate()
    {
        let date = format!("2026-11-{:02}", at + 1);
        let id = fixture.client.convene(&date, subject);
        let read = fixture.client.get(&format!("/api/swarm/subjects/{path}")).expect(200).json();
        assert_eq!(read["id"], subject);
        let read = fixture.client.get(&format!("/api/swarm/sessions/{date}/{path}")).expect(200);
        assert_eq!(read.json()["session"]["id"], id, "{subject}");
    }
    let absent = [
        ("subjects/a%2F", "subject"),
        ("subjects/%C3%A9%00", "subject"),
        ("sessions/2026-11-01/%2Fa", "session"),
        ("sessions/2026-02-30/a%2Fb", "session"),
        ("sessions/today/a%2Fb", "session"),
        ("sessions/2026-11-01/A%2FB", "session"),
    ];
    for (path, thing) in absent {
        let answer = fixture.client.get(&format!("/api/swarm/{path}"));
        answer.refused(404, &format!("no such {thing}"));
    }
    let long = "x".repeat(101);
    fixture.client.get(&format!("/api/swarm/subjects/{long}")).refused(404, "no such subject");
}

#[test]
fn ids_must_be_canonical() {
    let fixture = with_records();
    fixture.client.get("/api/swarm/takes/1").expect(200);
    fixture.client.get("/api/swarm/sessions/1").expect(200);
    for id in [
        "0",
        "01",
        "+1",
        "-1",
        "1e0",
        "1e3",
        "1.0",
        "0x1",
        "18446744073709551616",
        "%2B1",
        "18446744073709551615",
        "1%20",
        "%EF%BC%91",
        "2",
        "null",
        "%00",
        "1%00",
    ] {
        fixture.client.get(&format!("/api/swarm/takes/{id}")).refused(404, "no such take");
        fixture.client.get(&format!("/api/swarm/sessions/{id}")).refused(404, "no such session");
        let page = fixture.client.get(&format!("/swarm/takes/{id}")).expect(404);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let json = [("accept", "application/json")];
        let answer = fixture.client.send("GET", &format!("/swarm/takes/{id}"), &json, b"");
        answer.refused(404, "no such take");
    }
}

#[test]
fn sessions_come_in_pages() {
    let fixture = Fixture::start();
    for day in 1..=7 {
        fixture.convene(&format!("2026-11-{day:02}"), "aurora");
    }
    let page = |client: &Client, query: &str| {
        let read = client.get(&format!("/api/swarm/sessions{query}")).expect(200).json();
        let sessions = read["sessions"].as_array().unwrap().iter();
        let ids: Vec<_> = sessions.map(|session| session["id"].as_u64().unwrap()).collect();
        (ids, read.get("nextBefore").and_then(Value::as_u64))
    };
    for (query, ids, next) in [
        ("", vec![7, 6, 5, 4, 3, 2, 1], None),
        ("?limit=500", vec![7, 6, 5, 4, 3, 2, 1], None),
        ("?limit=7", vec![7, 6, 5, 4, 3, 2, 1], None),
        ("?limit=3", vec![7, 6, 5], Some(5)),
        ("?limit=3&before=5", vec![4, 3, 2], Some(2)),
        ("?before=2&limit=3", vec![1], None),
        ("?before=1", vec![], None),
        ("?before=0", vec![], None),
        ("?before=18446744073709551615&limit=1", vec![7], Some(7)),
        ("?other=x", vec![7, 6, 5, 4, 3, 2, 1], None),
    ] {
        assert_eq!(page(&fixture.client, query), (ids, next), "{query}");
    }
    for name in ["limit", "before"] {
        for bad in ["", "x", "-1", "1.0", "1e2", "01", "%2B1", "18446744073709551616", "1,2"] {
            is_error(&fixture.client.get(&format!("/api/swarm/sessions?{name}={bad}")), 400);
        }
    }
    for bad in ["limit=0", "limit=501", "limit=1&before=x"] {
        is_error(&fixture.client.get(&format!("/api/swarm/sessions?{bad}")), 400);
    }
}

/// For sessions and applications; the takes of a session are complete without a limit.
#[test]
fn default_page_size_is_100() {
    const DATE: &str = "2026-11-21";
    let fixture = Fixture::start();
    for _ in 0..101 {
        fixture.convene(DATE, "aurora");
    }
    let session = fixture.convene(DATE, "basalt");
    for _ in 0..101 {
        let author = fixture.author();
        fixture.client.submit(&author, author.draft(DATE, "basalt")).expect(201);
    }
    let read = |path: &str| {
        let answer = fixture.client.send("GET", path, &[("x-admin-token", ADMIN)], b"");
        answer.expect(200).json()
    };
    let length = |page: &Value, of: &str| page[of].as_array().unwrap().len();
    let page = read("/api/swarm/sessions");
    assert_eq!((length(&page, "sessions"), page["nextBefore"].as_u64()), (100, Some(3)));
    let page = read("/api/swarm/sessions?limit=500");
    assert_eq!((length(&page, "sessions"), page.get("nextBefore")), (102, None));

    let applications = "/api/swarm/admin/applications";
    let page = read(applications);
    assert_eq!(length(&page, "applications"), 100);
    assert_eq!(page["nextAfter"], page["applications"][99]["id"]);
    let page = read(&format!("{applications}?limit=500"));
    assert_eq!((length(&page, "applications"), page.get("nextAfter")), (101, None));

    let whole = read(&format!("/api/swarm/sessions/{session}"));
    assert_eq!((length(&whole, "takes"), whole.get("nextAfter")), (101, None));
}

#[test]
fn superseded_session_is_readable_by_id() {
    const DATE: &str = "2026-11-21";
    let fixture = Fixture::start();
    let author = fixture.author();
    let read =
        |path: &str| fixture.client.get(&format!("/api/swarm/sessions/{path}")).expect(200).json();
    let hidden = fixture.convene(DATE, "aurora").to_string();
    fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
    let before = read(&hidden);
    assert_eq!(before["takes"].as_array().map(Vec::len), Some(1));
    let newer = fixture.convene(DATE, "aurora");
    assert_eq!(read(&hidden), before);
    assert_eq!(read(&format!("{hidden}?limit=1"))["takes"], before["takes"]);
    let by_date = read(&format!("{DATE}/aurora"));
    assert_eq!(by_date["session"]["id"], newer);
    assert_eq!(by_date["takes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn compressed_answer_is_identical() {
    const PATH: &str = "/api/swarm/sessions";
    let fixture = Fixture::start();
    for _ in 0..20 {
        fixture.convene("2026-11-21", "aurora");
    }
    let plain = fixture.client.get(PATH).expect(200).text;
    let mut stream = TcpStream::connect(fixture.server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let headers = "Host: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n";
    write!(stream, "GET {PATH} HTTP/1.1\r\n{headers}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|at| at == b"\r\n\r\n").unwrap() + 4;
    let mut text = String::new();
    flate2::read::GzDecoder::new(&answer[end..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain);
}
