//! Hostile requests: malformed JSON, headers and text.

mod committee;
mod headers;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::committee_fixture;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer};
use crate::routes::{self, Route};
use crate::vector_files::{records, third_party};

/// A fixture with a record for every route.
struct Target {
    fixture: Fixture,
    bearer: String,
    before: String,
}

impl Target {
    fn start() -> Self {
        let (fixture, author) = Fixture::with_records();
        let before = fixture.print();
        Self { bearer: author.bearer(), before, fixture }
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let headers = [
            ("content-type", "application/json"),
            ("authorization", self.bearer.as_str()),
            ("x-admin-token", ADMIN),
            ("x-ic-key", committee_fixture::KEY),
        ];
        self.fixture.client.send(method, path, &headers, body)
    }

    /// Sends an invalid body to all routes.
    fn try_all(&self, name: &str, body: &[u8]) {
        for (route, rule) in routes::with_json_body() {
            if rule.is_optional && counts_as_empty(route, body) {
                // A valid request.
                continue;
            }
            let (method, path) = (route.method(), route.path.as_str());
            let answer = self.send(method, path, body);
            // An object that names no field changes nothing; a preflight reports every fault of an object.
            let changes_nothing = method == "PATCH" || path == PREFLIGHT;
            if changes_nothing && answer.status == 200 {
                continue;
            }
            assert!((400..500).contains(&answer.status), "{method} {path} {name}: {answer:?}");
            assert_eq!(answer.header("content-type"), Some("application/json"), "{path} {name}");
            assert!(answer.json()["error"].is_string(), "{method} {path} {name}: {answer:?}");
            if name.starts_with("n_") {
                // The suite has bodies that are longer than some routes take.
                let too_long = body.len() > rule.limit;
                let error = if too_long { "body too large" } else { "invalid json body" };
                assert_eq!(answer.json()["error"], error, "{path} {name}");
            }
        }
    }

    fn check_unchanged(&self) {
        assert_eq!(self.fixture.print(), self.before);
    }
}

const PREFLIGHT: &str = "/api/swarm/preflight";

/// Whether a route that takes an optional body takes this one for an object without fields.
fn counts_as_empty(route: &Route, body: &[u8]) -> bool {
    let takes_no_field = || {
        let body = route.info.body.as_ref().unwrap();
        body.example.as_deref() == Some("{}")
    };
    match body.trim_ascii() {
        b"" => body.is_empty(),
        b"{}" => true,
        b"null" => takes_no_field(),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Packed {
    name: String,
    base64: String,
}

fn suite(file: &str, count: usize) {
    let Some(text) = third_party(file) else { return };
    let bodies: Vec<Packed> = records(&text);
    assert_eq!(bodies.len(), count);
    let target = Target::start();
    for Packed { name, base64 } in bodies {
        let body = STANDARD.decode(base64).unwrap();
        target.try_all(&name, &body);
    }
    target.check_unchanged();
}

#[test]
fn bodies_of_the_json_test_suite() {
    suite("json/jsontestsuite_parsing.jsonl", 318);
}

#[test]
fn bodies_of_the_json_test_suite_that_readers_disagree_on() {
    suite("json/jsontestsuite_transform.jsonl", 22);
}

#[test]
fn bodies_of_our_own() {
    let repeat = |text: &str, times| text.repeat(times).into_bytes();
    let field = |value: &str| format!(r#"{{"memberId":{value}}}"#).into_bytes();
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let keys: Vec<_> = (0..20_000).map(|at| format!("\"k{at}\":0")).collect();
    let target = Target::start();
    for (name, body) in [
        ("empty", vec![]),
        ("spaces", repeat(" ", 1_000)),
        ("arrays in arrays", repeat("[", 200_000)),
        ("closed arrays in arrays", [repeat("[", 100_000), repeat("]", 100_000)].concat()),
        ("objects in objects", repeat("{\"a\":", 40_000)),
        ("a field of arrays", field(&format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)))),
        ("a number of many digits", field(&"9".repeat(200_000))),
        ("a number of many decimals", field(&format!("0.{}", "3".repeat(200_000)))),
        ("a huge number", field("1e400")),
        ("a huger number", field("-1e999999999999")),
        ("a tiny number", field("1e-999999999999")),
        ("not a number", field("NaN")),
        ("infinity", field("-Infinity")),
        ("hexadecimal", field("0x10")),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("UTF-16, little end first", utf16("\u{feff}{\"memberId\":\"m\"}", false)),
        ("UTF-16, big end first", utf16("\u{feff}{\"memberId\":\"m\"}", true)),
        ("UTF-16 without a mark", utf16("{\"memberId\":\"m\"}", false)),
        ("NULs", vec![0; 100_000]),
        ("a NUL at the end", b"{\"memberId\":\"m\"}\0".to_vec()),
        ("a NUL in a string", b"{\"memberId\":\"\0\"}".to_vec()),
        ("latin 1", b"{\"memberId\":\"\xe4\"}".to_vec()),
        ("half a character", b"{\"memberId\":\"\xf0\x9f\x98\"}".to_vec()),
        ("an overlong character", b"{\"memberId\":\"\xc0\xaf\"}".to_vec()),
        ("half a pair", field(r#""\ud83d""#)),
        ("half a pair in a name", br#"{"\udc00":1}"#.to_vec()),
        ("the same key twice", br#"{"memberId":"a","memberId":"b"}"#.to_vec()),
        ("the same key within, twice", br#"{"x":[{"a":1,"\u0061":1}]}"#.to_vec()),
        ("two values", b"{}{}".to_vec()),
        ("a value and more", b"{} x".to_vec()),
        ("a comment", b"{/* */}".to_vec()),
        ("a comma too many", br#"{"memberId":"m",}"#.to_vec()),
        ("single quotes", b"{'memberId':'m'}".to_vec()),
        ("a form", b"memberId=m&state=aggregated".to_vec()),
        (
            "XML",
            b"<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>"
                .to_vec(),
        ),
        ("many keys", format!("{{{}}}", keys.join(",")).into_bytes()),
        ("a long key", format!("{{\"{}\":1}}", "k".repeat(200_000)).into_bytes()),
        ("a long string", field(&format!("\"{}\"", "m".repeat(200_000)))),
        ("a string of escapes", field(&format!("\"{}\"", "\\u0000".repeat(30_000)))),
        ("an unfinished string", field("\"m")),
        ("a prototype", br#"{"__proto__":{"memberId":"m"},"constructor":1}"#.to_vec()),
        ("a list of members", br#"[{"memberId":"m"}]"#.to_vec()),
        ("a string", b"\"memberId\"".to_vec()),
        ("null", b"null".to_vec()),
        ("true", b"true".to_vec()),
        ("a number", b"-0.0e1".to_vec()),
    ] {
        target.try_all(name, &body);
    }
    target.check_unchanged();
}
