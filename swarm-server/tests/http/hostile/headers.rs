//! Hostile header values.

use crate::fixture::Fixture;
use crate::raw_http;

fn request(line: &str, headers: &[&[u8]]) -> Vec<u8> {
    let mut request = format!("{line} HTTP/1.1\r\nHost: a\r\n").into_bytes();
    for header in headers {
        request.extend_from_slice(header);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request
}

#[test]
fn tokens_of_any_bytes_are_unknown() {
    let fixture = Fixture::start();
    let long = [b"Bearer ", "x".repeat(8 << 10).as_bytes()].concat();
    let admin = "y".repeat(8 << 10);
    for token in [
        &b"Bearer \xff\xfe\x80"[..],
        b"Bearer caf\xc3\xa9",
        b"Bearer \xe4 \xf6",
        b"Bearer tok_m_0, Bearer tok_n_0",
        b"Bearer a b c",
        b"Bearer \"",
        b"Bearer {\"$ne\":1}",
        b"Bearer *",
        &long,
    ] {
        let header = [b"Authorization: ", token].concat();
        let verify = request("GET /api/swarm/verify-token", &[&header]);
        raw_http::exchange(fixture.server.address, &verify).refused(401, "unknown member token");
    }
    for token in [
        &b"\xff\xfe\x80"[..],
        b"adm_of_the_tests\xff",
        b"adm_of_the_tests, adm_of_the_tests",
        admin.as_bytes(),
    ] {
        let header = [b"X-Admin-Token: ", token].concat();
        let outbox = request("GET /api/swarm/admin/outbox", &[&header]);
        raw_http::exchange(fixture.server.address, &outbox).refused(401, "admin token required");
    }
    // A head over the limit is not read to its end.
    let header = [b"Authorization: Bearer ", "x".repeat(40 << 10).as_bytes()].concat();
    let verify = request("GET /api/swarm/verify-token", &[&header]);
    assert_eq!(raw_http::exchange(fixture.server.address, &verify).status, 431);
    fixture.client.get("/healthz").expect(200);
}

/// A proxy may have checked the other value.
#[test]
fn duplicate_credentials_are_refused() {
    let fixture = Fixture::start();
    let author = fixture.author();
    let (good, bad) = (format!("Authorization: {}", author.bearer()), "Authorization: Bearer x");
    for headers in [[good.as_bytes(), bad.as_bytes()], [bad.as_bytes(), good.as_bytes()]] {
        let verify = request("GET /api/swarm/verify-token", &headers);
        raw_http::exchange(fixture.server.address, &verify).refused(401, "missing bearer token");
    }
    let (good, bad) = (&b"X-Admin-Token: adm_of_the_tests"[..], &b"X-Admin-Token: x"[..]);
    for headers in [[good, bad], [bad, good], [good, good]] {
        let outbox = request("GET /api/swarm/admin/outbox", &headers);
        raw_http::exchange(fixture.server.address, &outbox).refused(401, "admin token required");
        let members = request("GET /api/ic/admin/members", &headers);
        raw_http::exchange(fixture.server.address, &members).unread(401, "admin token required");
    }
}

#[test]
fn request_ids_are_plain_or_generated() {
    let fixture = Fixture::start();
    let id = |sent: &[u8]| {
        let header = [b"X-Request-Id: ", sent].concat();
        let answer = raw_http::exchange(
            fixture.server.address,
            &request("GET /api/swarm/members", &[&header]),
        );
        answer.expect(200).header("x-request-id").unwrap().to_owned()
    };
    for plain in ["a", "A-z_0.9", &"x".repeat(64)] {
        assert_eq!(id(plain.as_bytes()), plain);
    }
    let mut ours = std::collections::HashSet::new();
    for other in [
        &b""[..],
        b"a b",
        b"\"a\"",
        b"a'b",
        b"<a>",
        b"a\tb",
        b"a%0d%0ab",
        b"a;b",
        b"caf\xc3\xa9",
        b"\xff",
        b"${jndi:ldap://x}",
        b"{\"a\":1}",
        &[b'x'; 65],
    ] {
        let given = id(other);
        let plain =
            given.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        assert!(plain && (1..=64).contains(&given.len()), "{given}");
        assert_ne!(given.as_bytes(), other);
        assert!(ours.insert(given), "an id is used once");
    }
}

/// A line end within a value does not begin another header, in the request or in the answer.
#[test]
fn line_ends_in_header_values_inject_nothing() {
    let fixture = Fixture::start();
    for sent in [&b"a\rX-Evil: 1"[..], b"a\r\rX-Evil: 1", b"a\0b", b"a\x7fb", b"\x1b[31ma"] {
        let header = [b"X-Request-Id: ", sent].concat();
        let answer = raw_http::exchange(
            fixture.server.address,
            &request("GET /api/swarm/members", &[&header]),
        );
        assert!(matches!(answer.status, 200 | 400), "{answer:?}");
        assert_eq!(answer.header("x-evil"), None);
        let id = answer.header("x-request-id").unwrap_or_default();
        assert!(id.bytes().all(|b| b.is_ascii_graphic()), "{id:?}");
    }
    fixture.client.get("/healthz").expect(200);
}

/// Invalid conditions, formats and ranges do not cause errors.
#[test]
fn invalid_conditions_and_formats_are_ignored() {
    let fixture = Fixture::start();
    for header in [
        &b"If-None-Match: \xff\xfe"[..],
        b"If-None-Match: ,,,\"",
        b"If-None-Match: W/",
        b"Accept: \xff",
        b"Accept: */*;q=nan, text/html;q=-1, application/json;q=1e999",
        b"Accept: ;;;,,,/",
        b"Accept-Encoding: \xff, gzip;q=x",
        b"Range: bytes=0-99999999999999999999",
        b"Content-Type: \xff",
        b"Origin: null\xff",
        b"Cookie: \xff=\xfe",
    ] {
        for path in ["/api/swarm/members", "/api/swarm/takes/1", "/swarm/takes/1"] {
            let answer = raw_http::exchange(
                fixture.server.address,
                &request(&format!("GET {path}"), &[header]),
            );
            assert!(matches!(answer.status, 200 | 206 | 404), "{header:?}: {answer:?}");
        }
    }
    for query in ["%", "%ff", "limit=%ff", "=&=&&", "limit", "&limit=1&limit=2", "\u{e4}=1"] {
        let line = format!("GET /api/swarm/sessions?{query}");
        let answer = raw_http::exchange(fixture.server.address, &request(&line, &[]));
        assert!(matches!(answer.status, 200 | 400), "{query}: {answer:?}");
    }
}
