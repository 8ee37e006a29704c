//! Receipts, signed according to RFC 9421.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use swarm_core::audit::{
    Finding, KeySource, LogKey, ReceivedAnswer, SentRequest, Verdict, audit_receipt, content_digest,
};

use crate::bundles::desk::Desk;

const ANSWER: &str = r#"{"ok":true,"status":201,"recommendationId":1,"verified":true}"#;
const TAKE: &str = r#"{"memberId":"ada"}"#;
const COMPONENTS: &str =
    r#""@status" "content-digest" "@method";req "@path";req "@query";req "swarm-request-digest""#;

/// A receipt as `curl -i` prints it, with these parameters of the signature.
fn receipt(parameters: &str) -> String {
    let input = format!("({COMPONENTS}){parameters}");
    let (content, request) = (content_digest(ANSWER.as_bytes()), content_digest(TAKE.as_bytes()));
    let base = format!(
        "\"@status\": 201\n\"content-digest\": {content}\n\"@method\";req: POST\n\
         \"@path\";req: /api/swarm/submit\n\"@query\";req: ?\n\"swarm-request-digest\": {request}\n\
         \"@signature-params\": {input}"
    );
    let signature = STANDARD.encode(Desk::with_roster().signer().sign_bytes(base.as_bytes()));
    format!(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 201 \r\ncontent-type: application/json\r\nContent-Digest: {content}\r\n\
         swarm-request-digest: {request}\r\nsignature-input: other=(\"date\");nonce=\"a, b=(\", swarm={input}\r\n\
         signature: swarm=:{signature}:\r\n\r\n{ANSWER}"
    )
}

fn parameters() -> String {
    let origin = Desk::with_roster().origin;
    format!(";nonce=\"x;created=1;keyid=y\";created=1795269600;keyid=\"{origin}\";alg=\"ed25519\"")
}

fn findings(receipt: &str, request: &str, body: Option<&str>) -> Vec<Finding> {
    let key = Desk::with_roster().signer().verifier().to_string();
    let key = LogKey::parse(&key, KeySource::Given).unwrap();
    let body = body.map(|body| body.as_bytes().to_vec());
    let request = SentRequest::parse(request, body).unwrap();
    audit_receipt(&ReceivedAnswer::parse(receipt.as_bytes()).unwrap(), &request, &key)
}

fn fails(receipt: &str, request: &str, body: Option<&str>) -> Vec<&'static str> {
    let findings = findings(receipt, request, body);
    let failing = findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    failing.map(|finding| finding.check.code()).collect()
}

const SUBMIT: &str = "POST /api/swarm/submit";

#[test]
fn receipt_is_verified() {
    let receipt = receipt(&parameters());
    assert_eq!(fails(&receipt, SUBMIT, Some(TAKE)), [""; 0]);
    assert_eq!(fails(&receipt.replace("\r\n", "\n"), SUBMIT, None), [""; 0]);
    let said: Vec<_> =
        findings(&receipt, SUBMIT, Some(TAKE)).iter().map(Finding::to_string).collect();
    assert!(
        said.join("\n").contains(
            "status 201 to \"POST\" \"/api/swarm/submit\", signed 2026-11-21T14:00:00.000Z"
        ),
        "{said:#?}"
    );
}

#[test]
fn tampered_receipt_is_found() {
    let whole = receipt(&parameters());
    for (from, to) in [
        ("HTTP/2 201", "HTTP/2 409"),
        ("created=1795269600", "created=1795269601"),
        ("signature: swarm=:", "signature: swarm=:AA"),
        ("content-digest: sha", "content-digest: SHA"),
    ] {
        let edited = whole.to_ascii_lowercase().contains(&from.to_ascii_lowercase());
        assert!(edited, "{from}");
        let tampered = whole.replace("Content-Digest", "content-digest").replace(from, to);
        let found = findings(&tampered, SUBMIT, Some(TAKE));
        let found: Vec<_> = found.iter().map(|it| (it.verdict, it.check.code())).collect();
        assert_eq!(found, [(Verdict::Fails, "receipt")], "{to}: nothing else was signed");
    }
    assert_eq!(
        fails(&whole.replace("\"verified\":true", "\"verified\":false"), SUBMIT, None),
        ["content"]
    );
    assert_eq!(fails(&whole, SUBMIT, Some("{}")), ["content"]);
    for other in ["POST /api/swarm/apply", "GET /api/swarm/submit", "POST /api/swarm/submit?x=1"] {
        assert_eq!(fails(&whole, other, Some(TAKE)), ["receipt"], "{other}");
    }
    let unsigned = whole.replace("signature: swarm", "signature: swan").replace("other=", "swan=");
    assert!(fails(&unsigned, SUBMIT, None).contains(&"receipt"));
    assert_eq!(
        fails(&receipt(";keyid=\"desk.example/swarm/log/acme\""), SUBMIT, None),
        ["receipt"],
        "no time"
    );
    assert_eq!(
        fails(&receipt(";created=1;keyid=\"eve\""), SUBMIT, None),
        ["receipt"],
        "another key"
    );
    assert_eq!(fails("HTTP/1.1 201 Created\r\n\r\n{}", SUBMIT, None), ["receipt"]);
    for (from, to) in [("swarm=(", "swarm=(("), ("signature: swarm=:", "signature: swarm=::")] {
        assert_eq!(fails(&whole.replace(from, to), SUBMIT, None), ["receipt"], "{to}");
    }
    for none in ["", "201 Created", "HTTP/1.1\r\n\r\n", "HTTP/1.1 201 Created\r\nx: y"] {
        assert!(ReceivedAnswer::parse(none.as_bytes()).is_err(), "{none}");
    }
}
