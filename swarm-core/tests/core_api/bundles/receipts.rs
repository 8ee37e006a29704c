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
    receipt_over(COMPONENTS, parameters)
}

/// A receipt whose signature covers these components.
fn receipt_over(components: &str, parameters: &str) -> String {
    let input = format!("({components}){parameters}");
    let (content, request) = (content_digest(ANSWER.as_bytes()), content_digest(TAKE.as_bytes()));
    let values = [
        ("\"@status\"", "201"),
        ("\"content-digest\"", &content),
        ("\"@method\";req", "POST"),
        ("\"@path\";req", "/api/swarm/submit"),
        ("\"@query\";req", "?"),
        ("\"swarm-request-digest\"", &request),
        ("\"content-type\"", "application/json"),
    ];
    let lines = components.split(' ').filter(|it| !it.is_empty()).map(|component| {
        let (_, value) = values.iter().find(|(name, _)| *name == component).unwrap();
        format!("{component}: {value}\n")
    });
    let base = format!("{}\"@signature-params\": {input}", lines.collect::<String>());
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

/// The server signs what it is asked to sign. A signature over less could be put under another answer.
#[test]
fn receipt_over_less_than_the_exchange_shows_nothing() {
    let all: Vec<_> = COMPONENTS.split(' ').collect();
    for place in 0..all.len() {
        let mut some = all.clone();
        let left_out = some.remove(place);
        let receipt = receipt_over(&some.join(" "), &parameters());
        let found = findings(&receipt, SUBMIT, Some(TAKE));
        let found: Vec<_> = found.iter().map(|it| (it.verdict, it.check.code())).collect();
        assert_eq!(found, [(Verdict::Fails, "receipt")], "{left_out}");
    }
    let nothing = receipt_over("\"content-type\"", &parameters());
    assert_eq!(fails(&nothing, SUBMIT, Some(TAKE)), ["receipt"]);
    let more = receipt_over(&format!("{COMPONENTS} \"content-type\""), &parameters());
    assert_eq!(fails(&more, SUBMIT, Some(TAKE)), [""; 0]);
}

/// A request without a body has no digest of one. Whether a POST has one is not known unless it is given.
#[test]
fn digest_of_the_request_is_required_where_it_has_a_body() {
    let bodiless = COMPONENTS.replace(" \"swarm-request-digest\"", "");
    let receipt = receipt_over(&bodiless, &parameters());
    assert_eq!(fails(&receipt, SUBMIT, None), ["receipt"]);
    assert_eq!(fails(&receipt, SUBMIT, Some("")), [""; 0]);
    let of_get = receipt_over(COMPONENTS, &parameters());
    assert_eq!(fails(&of_get, "GET /api/swarm/submit", None), ["receipt"], "another method");
}

/// As RFC 9421 has it: 2.5 and 3.2.
#[test]
fn receipt_of_another_form_is_none() {
    let keyid = format!(";keyid=\"{}\"", Desk::with_roster().origin);
    let twice = format!("\"@status\" {COMPONENTS}");
    for (components, parameters) in [
        (COMPONENTS, format!(";created=1{keyid};alg=\"hmac-sha256\"")),
        (COMPONENTS, format!(";created=-1{keyid}")),
        (&twice, format!(";created=1{keyid}")),
    ] {
        let receipt = receipt_over(components, &parameters);
        assert_eq!(fails(&receipt, SUBMIT, Some(TAKE)), ["receipt"], "{components}{parameters}");
    }
    let status = receipt(&parameters()).replace("HTTP/2 201", "HTTP/2 0201");
    assert!(ReceivedAnswer::parse(status.as_bytes()).is_err());
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
