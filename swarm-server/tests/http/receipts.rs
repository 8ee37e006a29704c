//! Receipts: answers that the binary signs on request (API.md, 11.7).

use std::fmt::Write as _;
use std::process::Command;

use serde_json::json;
use swarm_core::audit::{
    KeySource, LogKey, ReceivedAnswer, SentRequest, Verdict, audit_receipt, content_digest,
};
use swarm_redis_testing::wait_until;

use crate::clients::{NODE_TOOLS, node, node_tools, python};
use crate::harness::{ADMIN, Answer, Author, Client, signed_text};
use crate::program::Program;
use crate::proxies::Proxy;

const DAY: &str = "2026-11-21";
const SUBMIT: &str = "/api/swarm/submit";
const ALL: &str = "swarm=()";

fn start() -> Program {
    Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)])
}

/// Asks for a receipt.
fn get_signed(client: &Client, path: &str, asked: &str) -> Answer {
    client.send("GET", path, &[("accept-signature", asked)], b"")
}

fn log_key(client: &Client) -> String {
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    manifest["logKey"].as_str().unwrap().to_owned()
}

/// The answer as `curl -i` prints it.
pub fn printed(answer: &Answer) -> String {
    let mut text = format!("HTTP/1.1 {}\r\n", answer.status);
    for (name, value) in &answer.headers {
        write!(text, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    format!("{text}\r\n{}", answer.text)
}

/// Fails unless the log's key signed this answer to this request.
#[track_caller]
fn verify(client: &Client, answer: &Answer, request: &str, body: Option<&str>) {
    let key = LogKey::parse(&log_key(client), KeySource::Given).unwrap();
    let request = SentRequest::parse(request, body.map(|body| body.into())).unwrap();
    let received = ReceivedAnswer::parse(printed(answer).as_bytes()).unwrap();
    for finding in audit_receipt(&received, &request, &key) {
        assert_ne!(finding.verdict, Verdict::Fails, "{finding}: {answer:?}");
    }
    let digest = body.filter(|body| !body.is_empty());
    let digest = digest.map(|body| content_digest(body.as_bytes()));
    assert_eq!(answer.header("swarm-request-digest"), digest.as_deref());
    assert_eq!(answer.header("content-encoding"), None);
    assert_eq!(answer.header("cache-control"), Some("no-store, no-transform"));
    let vary: Vec<_> = answer.headers.get_all("vary").iter().collect();
    assert!(vary.iter().any(|it| *it == "Accept-Signature"), "{vary:?}");
}

fn input(answer: &Answer) -> String {
    answer.header("signature-input").unwrap_or_else(|| panic!("not signed: {answer:?}")).to_owned()
}

#[test]
fn acceptance_and_refusal_of_a_take_are_signed() {
    let program = start();
    let client = &program.client;
    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    let take = signed_text(&ada.key.sign(ada.draft(DAY, "aurora")));
    let bearer = ada.bearer();
    let headers = [("authorization", bearer.as_str()), ("accept-signature", ALL)];
    for status in [201, 409] {
        let answer = client.post(SUBMIT, &headers, &take).expect(status);
        verify(client, &answer, "POST /api/swarm/submit", Some(&take));
        let input = input(&answer);
        let entry = if status == 201 { r#" "swarm-entry""# } else { "" };
        let components = format!(
            r#"swarm=("@status" "content-digest" "date" "@method";req "@path";req "@query";req "content-type" "swarm-request-digest"{entry});created="#
        );
        assert!(input.starts_with(&components), "{input}");
        assert!(input.ends_with(r#";keyid="localhost/swarm/log/default""#), "{input}");
    }
    // The number of the entry comes without a receipt too, and a refusal has none.
    let next = signed_text(&ada.key.sign(ada.draft(DAY, "aurora")));
    let filed = client.post(SUBMIT, &headers[..1], &next).expect(201);
    let entry: u64 = filed.header("swarm-entry").unwrap().parse().unwrap();
    let log = client.get(&format!("/api/swarm/log?after={}", entry - 1)).expect(200).json();
    assert_eq!(log["entries"][0]["id"], filed.json()["recommendationId"]);
    let unsigned = client.post(SUBMIT, &headers[..1], &take).expect(409);
    assert_eq!(unsigned.header("swarm-entry"), None);
    for name in ["signature", "signature-input", "content-digest", "swarm-request-digest"] {
        assert_eq!(unsigned.header(name), None);
    }
}

#[test]
fn refusals_before_the_body_are_signed_with_its_digest() {
    let program = start();
    let client = &program.client;
    let large = "x".repeat(200_000);
    for body in ["{}", large.as_str()] {
        let asked = [("accept-signature", ALL)];
        let admin = "/api/swarm/admin/activate";
        let answer = client.post(admin, &asked, body).expect(401);
        verify(client, &answer, &format!("POST {admin}"), Some(body));
        let typed = [("content-type", "text/plain"), asked[0]];
        let apply = "/api/swarm/apply";
        let answer = client.send("POST", apply, &typed, body.as_bytes()).expect(415);
        verify(client, &answer, &format!("POST {apply}"), Some(body));
        let answer = client.post("/api/swarm/nothing", &asked, body).expect(404);
        verify(client, &answer, "POST /api/swarm/nothing", Some(body));
    }
}

#[test]
fn members_are_fulfilled_as_asked_or_left_out() {
    let program = start();
    let client = &program.client;
    let get = |asked: &str| get_signed(client, "/api/swarm/sessions?limit=1", asked).expect(200);
    let asked = r#"b=("@query";req "@status" "@path";req "@method";req "content-digest");tag="t";nonce="a, b=(\"";alg="ed25519";created, no=("@authority";req), un=();expires, a=("content-digest" "date" "@status" "@method";req "@path";req "@query";req);keyid="localhost/swarm/log/default", k=();keyid="other""#;
    // Five members are too many.
    assert_eq!(get(asked).header("signature-input"), None);
    let asked = asked.replace(r#", no=("@authority";req)"#, "");
    let answer = get(&asked);
    verify(client, &answer, "GET /api/swarm/sessions?limit=1", None);
    let input = input(&answer);
    let (first, second) = input.split_once(", a=").unwrap();
    let begin = r#"b=("@query";req "@status" "@path";req "@method";req "content-digest");tag="t";nonce="a, b=(\"";alg="ed25519";created="#;
    assert!(first.starts_with(begin), "{input}");
    let begin = r#"("content-digest" "date" "@status" "@method";req "@path";req "@query";req);keyid="localhost/swarm/log/default";created="#;
    assert!(second.starts_with(begin), "{input}");
    let signatures = answer.header("signature").unwrap();
    assert!(signatures.starts_with("b=:") && signatures.contains(":, a=:"), "{signatures}");
    for unfulfilled in [
        r#"a=("swarm-request-digest")"#,
        r#"a=("@method")"#,
        r#"a=("date";sf)"#,
        r#"a=();keyid="other""#,
        r#"a=();alg="hmac-sha256""#,
        "a=(",
    ] {
        let answer = get(unfulfilled);
        assert_eq!(answer.header("signature-input"), None, "{unfulfilled}");
        assert_eq!(answer.header("signature"), None, "{unfulfilled}");
    }
}

/// Otherwise anybody could put what is not signed around a signature of the service.
#[test]
fn nothing_is_signed_without_the_status_the_bodies_and_the_request() {
    let program = start();
    let client = &program.client;
    let least = r#"("@status" "content-digest" "@method";req "@path";req "@query";req)"#;
    let (whole, path) = (format!("a={least}"), "/api/swarm/sessions");
    verify(client, &get_signed(client, path, &whole).expect(200), &format!("GET {path}"), None);
    for left_out in [
        r#""@status" "#,
        r#""content-digest" "#,
        r#""@method";req "#,
        r#""@path";req "#,
        r#" "@query";req"#,
    ] {
        let less = whole.replace(left_out, "");
        assert_ne!(less, whole);
        let answer = get_signed(client, path, &less).expect(200);
        assert_eq!(answer.header("signature"), None, "{less}");
    }
    // A request with a body: its digest too.
    let (apply, with_body) =
        ("/api/swarm/apply", whole.replace(')', r#" "swarm-request-digest")"#));
    let post = |asked: &str, body: &str| client.post(apply, &[("accept-signature", asked)], body);
    assert_eq!(post(&whole, "{}").expect(400).header("signature"), None);
    verify(client, &post(&with_body, "{}").expect(400), &format!("POST {apply}"), Some("{}"));
    let empty = client.send("POST", apply, &[("accept-signature", &whole)], b"").expect(415);
    verify(client, &empty, &format!("POST {apply}"), Some(""));
    // One that is refused by its size is read all the same, up to the largest that any route takes.
    let large = "x".repeat(2 << 20);
    verify(client, &post(ALL, &large).expect(413), &format!("POST {apply}"), Some(&large));
    let answer = post(ALL, &format!("{large}xx")).expect(413);
    assert_eq!(answer.header("signature"), None, "of a body that was not read");
}

#[test]
fn entry_and_seal_of_a_take_are_signed() {
    let program = start();
    let client = &program.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({
        "date": DAY, "subjectId": "aurora", "blind": true, "windowClosesAt": "2036-01-01T12:00:00Z",
    });
    client.operate("/sessions", &session).expect(201);
    let ada = Author::join(client, "Ada");
    let bearer = ada.bearer();
    let submit = |asked: &str| {
        let take = signed_text(&ada.key.sign(ada.draft(DAY, "aurora")));
        let headers = [("authorization", bearer.as_str()), ("accept-signature", asked)];
        (client.post(SUBMIT, &headers, &take).expect(201), take)
    };
    let own = r#"own=("swarm-seal" "swarm-entry" "@status" "content-digest" "@method";req "@path";req "@query";req "swarm-request-digest")"#;
    for asked in [ALL, own] {
        let (answer, take) = submit(asked);
        verify(client, &answer, "POST /api/swarm/submit", Some(&take));
        let input = input(&answer);
        for component in [r#""swarm-entry""#, r#""swarm-seal""#] {
            assert!(input.contains(component), "{input}");
        }
        let entry: u64 = answer.header("swarm-entry").unwrap().parse().unwrap();
        let log = client.get(&format!("/api/swarm/log?after={}", entry - 1)).expect(200).json();
        let logged = &log["entries"][0];
        assert_eq!(
            (&logged["kind"], &logged["id"]),
            (&json!("take"), &answer.json()["recommendationId"])
        );
        assert_eq!(answer.header("swarm-seal").unwrap().len(), 44);
    }
    // They cannot be asked for where the exchange does not have them.
    let asked = own.replace(r#" "swarm-request-digest""#, "");
    let answer = get_signed(client, "/api/swarm/sessions", &asked).expect(200);
    assert_eq!(answer.header("signature"), None);
}

#[test]
fn receipt_is_whole_fresh_and_uncompressed() {
    let program = start();
    let client = &program.client;
    client.convene(DAY, "aurora");
    let path = "/api/swarm/log?limit=1000";
    let cached = client.get(path).expect(200);
    let tag = cached.header("etag").unwrap();
    let headers = [("accept-signature", ALL), ("accept-encoding", "gzip"), ("if-none-match", tag)];
    let answer = client.send("GET", path, &headers, b"").expect(200);
    verify(client, &answer, &format!("GET {path}"), None);
    assert_eq!(answer.text, cached.text);
    client.send("GET", path, &headers[2..], b"").expect(304);
    assert_eq!(client.get(path).expect(200).header("signature"), None);
    let head = client.send("HEAD", path, &headers[..1], b"").expect(200);
    verify(client, &head, &format!("HEAD {path}"), None);
    for page in ["/", "/swarm/log/tile/0/000.p/1"] {
        let url = format!("http://{}{page}", client.address);
        wait_until("the log is signed", || ureq::get(&url).call().is_ok());
        let response = ureq::get(url).header("accept-signature", ALL).call().unwrap();
        assert_eq!(response.headers()["cache-control"], "no-store, no-transform", "{page}");
        assert!(response.headers().contains_key("signature"), "{page}");
    }
}

#[test]
fn server_with_a_foreign_key_gives_no_receipt() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let program = Program::start(&["serve"], &environment);
    wait_until("the log is signed", || program.client.get("/swarm/log/checkpoint").status == 200);
    let folder = std::sync::Arc::clone(&program.folder);
    program.stop("TERM");
    let program = Program::start_in(folder, &["serve", "--signing-key=other.key"], &environment);
    let answer = get_signed(&program.client, "/api/swarm/sessions", ALL).expect(200);
    assert_eq!(answer.header("signature"), None);
}

/// As a page of another origin reads it.
#[test]
fn browsers_may_ask_for_receipts_and_read_them() {
    let program = start();
    let path = "/api/swarm/sessions";
    let asked = [
        ("origin", "https://other.example"),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "accept-signature"),
    ];
    let preflight = program.client.send("OPTIONS", path, &asked, b"");
    let allowed = preflight.header("access-control-allow-headers").unwrap();
    assert!(allowed.split(", ").any(|name| name == "Accept-Signature"), "{allowed}");
    let answer = get_signed(&program.client, path, ALL).expect(200);
    let shown = answer.header("access-control-expose-headers").unwrap();
    for name in ["Signature", "Signature-Input", "Content-Digest", "Date"] {
        assert!(shown.split(", ").any(|it| it == name) && answer.header(name).is_some(), "{name}");
    }
}

/// The proxies of `deploy/` neither replace nor compress what is signed.
#[test]
fn receipt_is_valid_through_each_proxy() {
    let program = Program::start(
        &["serve", "--store=memory", "--trust-forwarded"],
        &[("SWARM_ADMIN_TOKEN", ADMIN)],
    );
    let client = &program.client;
    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    let bearer = ada.bearer();
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept-signature", ALL),
        ("accept-encoding", "gzip"),
    ];
    for proxy in Proxy::each_before(&client.address.to_string()) {
        let take = signed_text(&ada.key.sign(ada.draft(DAY, "aurora")));
        for status in [201, 409] {
            let answer = proxy.client.post(SUBMIT, &headers, &take).expect(status);
            verify(client, &answer, "POST /api/swarm/submit", Some(&take));
        }
        let path = "/api/swarm/log?limit=1000";
        let answer = proxy.client.send("GET", path, &headers[1..], b"").expect(200);
        verify(client, &answer, &format!("GET {path}"), None);
    }
}

#[test]
fn receipt_is_verified_by_http_message_signatures_of_python() {
    verified_by(Command::new(python()).args(["-c", IN_PYTHON]));
}

#[test]
fn receipt_is_verified_by_http_message_signatures_of_node() {
    let script = ["--input-type=module", "-e", IN_NODE, "--"];
    verified_by(Command::new(node()).args(script).env(NODE_TOOLS, node_tools()));
}

/// Fails unless a verifier, which is another implementation of RFC 9421, accepts a receipt and refuses it with
/// another status. It is given the exchange as its last argument.
#[track_caller]
fn verified_by(verifier: &mut Command) {
    let program = start();
    let client = &program.client;
    let asked = r#"swarm=();nonce="n";tag="t";alg="ed25519""#;
    let path = "/api/swarm/submit?a=%20b&c";
    let answer = client.post(path, &[("accept-signature", asked)], "{}").expect(401);
    let given = json!({
        "key": log_key(client),
        "url": format!("http://{}{path}", client.address),
        "status": answer.status,
        "body": answer.text,
        "headers": answer.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect::<std::collections::BTreeMap<_, _>>(),
    });
    let ran = verifier.arg(given.to_string()).output().unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(said, "verified\nrefused\n", "{errors}");
}

const IN_PYTHON: &str = r#"
import base64, json, sys
from types import SimpleNamespace as Record
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
given = json.loads(sys.argv[1])
name, _, key = given["key"].split("+", 2)
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        assert key_id == name
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:])
request = Record(method="POST", url=given["url"], headers={})
verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys())
for status in given["status"], 201:
    answer = Record(status_code=status, headers=given["headers"], body=given["body"].encode(), request=request)
    try:
        [result] = verifier.verify(answer)
        assert result.parameters["nonce"] == "n" and result.parameters["tag"] == "t"
        print("verified")
    except Exception as error:
        print(repr(error), file=sys.stderr)
        print("refused")
"#;

const IN_NODE: &str = r#"
import { createPublicKey, verify } from 'node:crypto';
import { createRequire } from 'node:module';
const { httpbis } = createRequire(`${process.env.SWARM_NODE_TOOLS}/`)('http-message-signatures');
const given = JSON.parse(process.argv.at(-1));
const [, name, encoded] = given.key.match(/^(.*?)\+.*?\+(.*)$/);
const x = Buffer.from(encoded, 'base64').subarray(1).toString('base64url');
const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
const config = {
  all: true,
  requiredParams: ['created', 'keyid', 'nonce', 'tag', 'alg'],
  requiredFields: ['@status', '@method', '@path', '@query', 'content-digest', 'swarm-request-digest'],
  keyLookup: async ({ keyid, nonce, tag }) => keyid === name && nonce === 'n' && tag === 't'
    ? { algs: ['ed25519'], verify: async (data, signature) => verify(null, data, key, signature) }
    : null,
};
const request = { method: 'POST', url: given.url, headers: {} };
for (const status of [given.status, 201]) {
  const answer = { status, headers: given.headers };
  console.log(await httpbis.verifyMessage(config, answer, request) ? 'verified' : 'refused');
}
"#;
