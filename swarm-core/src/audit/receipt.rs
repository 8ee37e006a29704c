//! Receipts: answers that the server signed according to RFC 9421 (API.md, 11.7).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::finding::{Check, Faults, Finding, Report};
use super::key::{KeySource, LogKey};
use crate::domain::json::printable;
use crate::domain::{Invalid, Signature, Timestamp};
use crate::proof::structured_fields::{
    Bare, FieldItem, FieldValue, Parameters, dictionary, quoted, string_of,
};
use crate::proof::verify_signature;

/// An HTTP answer, as `curl -i` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedAnswer {
    status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    method: String,
    path: String,
    /// With its question mark.
    query: String,
    body: Option<Vec<u8>>,
}

impl ReceivedAnswer {
    /// Reads the last answer in the output of `curl -i`.
    ///
    /// # Errors
    /// [`Invalid`] if the output has no HTTP answer.
    pub fn parse(printed: &[u8]) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("receipt", "must be an HTTP answer, as curl -i prints it");
        let mut rest = printed;
        loop {
            let (head, body) = split_head(rest).ok_or_else(invalid)?;
            let head = std::str::from_utf8(head).map_err(|_| invalid())?;
            let mut lines = head.lines();
            let status = lines.next().and_then(|line| line.strip_prefix("HTTP/"));
            let status = status.and_then(|line| line.split(' ').nth(1));
            let status = status.filter(|it| it.len() == 3).and_then(|it| it.parse().ok());
            let status: u16 = status.ok_or_else(invalid)?;
            // An interim answer, or one of a proxy, precedes the final answer.
            if (100..200).contains(&status) || (body.starts_with(b"HTTP/") && status == 200) {
                rest = body;
                continue;
            }
            let header = |line: &str| {
                let (name, value) = line.split_once(':')?;
                Some((name.to_ascii_lowercase(), value.trim().to_owned()))
            };
            let headers = lines.map(header).collect::<Option<_>>().ok_or_else(invalid)?;
            return Ok(Self { status, headers, body: body.to_vec() });
        }
    }

    /// The values of a header, joined by `, ` (RFC 9421, 2.1); `None` if it is absent.
    fn header(&self, name: &str) -> Option<String> {
        let values = self.headers.iter().filter(|(header, _)| header == name);
        values.map(|(_, value)| value.clone()).reduce(|all, value| format!("{all}, {value}"))
    }
}

/// The head and the body of a message.
fn split_head(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = [b"\r\n\r\n".as_slice(), b"\n\n"].map(|end| {
        message.windows(end.len()).position(|window| window == end).map(|at| (at, at + end.len()))
    });
    let (head, body) = ends.into_iter().flatten().min()?;
    Some((message.get(..head)?, message.get(body..)?))
}

impl SentRequest {
    /// Reads a method and a target, such as `POST /api/swarm/submit`. `body` is what was sent, byte for byte.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(request: &str, body: Option<Vec<u8>>) -> Result<Self, Invalid> {
        let parts = request.split_once(' ').filter(|(_, target)| target.starts_with('/'));
        let invalid =
            || Invalid::new("request", "must be a method and a path: POST /api/swarm/submit");
        let (method, target) = parts.ok_or_else(invalid)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (method, path) = (method.to_owned(), path.to_owned());
        Ok(Self { method, path, query: format!("?{query}"), body })
    }

    /// Whether the request has a body. Without a given body, a POST, PUT or PATCH counts as having one.
    fn has_body(&self) -> bool {
        match &self.body {
            Some(body) => !body.is_empty(),
            None => matches!(&*self.method, "POST" | "PUT" | "PATCH"),
        }
    }
}

/// A signature of an answer: a member of `Signature-Input` with its `Signature`.
struct Signed<'a> {
    label: String,
    components: Vec<FieldItem>,
    parameters: Parameters,
    /// The value in `Signature-Input`, exactly.
    input: &'a str,
    signature: Signature,
}

impl Signed<'_> {
    /// Whether a component with this name, of the request or of the answer, is signed.
    fn covers(&self, name: &str, is_of_request: bool) -> bool {
        self.components.iter().any(|it| component(it) == Some((name, is_of_request)))
    }

    /// What a receipt must cover, and this one does not. A signature over less can be moved to another answer, or to the
    /// answer to another request.
    fn uncovered(&self, request: &SentRequest) -> Vec<&'static str> {
        let required = [
            ("@status", false, "the status"),
            ("content-digest", false, "the body of the answer"),
            ("@method", true, "the method of the request"),
            ("@path", true, "the path of the request"),
            ("@query", true, "the query of the request"),
            ("swarm-request-digest", false, "the body of the request"),
        ];
        let has_body = request.has_body();
        let is_required = |name| name != "swarm-request-digest" || has_body;
        let missing = required
            .into_iter()
            .filter(|(name, of_request, _)| is_required(*name) && !self.covers(name, *of_request));
        missing.map(|(_, _, what)| what).collect()
    }

    /// The name of the key.
    fn key_id(&self) -> &str {
        string_of(&self.parameters, "keyid").unwrap_or_default()
    }

    fn created(&self) -> Option<Timestamp> {
        let created = self.parameters.iter().find(|(name, _)| name == "created");
        let Some((_, Bare::Integer(seconds))) = created else { return None };
        if *seconds < 0 {
            return None;
        }
        Timestamp::from_millis(seconds.saturating_mul(1_000))
    }
}

/// The algorithm of the log's key, as RFC 9421 names it.
const ALGORITHM: &str = "ed25519";

/// Checks that the log's key signed this answer to this request.
pub fn audit_receipt(answer: &ReceivedAnswer, request: &SentRequest, key: &LogKey) -> Vec<Finding> {
    let mut report = Report::default();
    let (inputs, signatures) = (answer.header("signature-input"), answer.header("signature"));
    let (inputs, signatures) = (inputs.unwrap_or_default(), signatures.unwrap_or_default());
    let Some(signed) = read_signatures(&inputs, &signatures) else {
        report.faults(Check::Receipt, vec!["its signatures cannot be read".to_owned()]);
        return report.into_findings();
    };
    let Some(signed) = signed.iter().find(|it| is_of(it, key)).or(signed.first()) else {
        report.faults(Check::Receipt, vec!["the answer is not signed".to_owned()]);
        return report.into_findings();
    };
    if let Some(fault) = signature_fault(signed, answer, request, key) {
        // Nothing that it covers was signed then.
        report.faults(Check::Receipt, vec![fault]);
        return report.into_findings();
    }
    let uncovered = signed.uncovered(request);
    if !uncovered.is_empty() {
        let fault = format!("it does not cover {}, so it shows nothing", uncovered.join(", "));
        report.faults(Check::Receipt, vec![fault]);
        return report.into_findings();
    }
    let label = printable(&signed.label);
    let holds = format!("{label} is signed by the key that you named; checked offline");
    report.conclude(Check::Receipt, Vec::new(), holds);
    check_content(signed, answer, request, &mut report);
    let (status, method, path) =
        (answer.status, printable(&request.method), printable(&request.path));
    match signed.created() {
        Some(time) => {
            let holds = format!("status {status} to {method} {path}, signed {time}");
            report.conclude(Check::Receipt, Vec::new(), holds);
        }
        None => {
            report.faults(Check::Receipt, vec!["it does not say when it was created".to_owned()])
        }
    }
    if key.source == KeySource::Served {
        report.unproven(Check::Receipt, "the key came from the server itself");
    }
    report.unproven(Check::Clock, super::CLOCK);
    report.into_findings()
}

/// Whether the signature names this key.
fn is_of(signed: &Signed<'_>, key: &LogKey) -> bool {
    key.verifier(signed.key_id()).is_ok_and(|key| key.name() == signed.key_id())
}

fn signature_fault(
    signed: &Signed<'_>,
    answer: &ReceivedAnswer,
    request: &SentRequest,
    key: &LogKey,
) -> Option<String> {
    let name = signed.key_id();
    let key = match key.verifier(name) {
        Ok(key) if key.name() == name => key,
        Ok(key) => {
            let (given, named) = (printable(key.name()), printable(name));
            return Some(format!("it is signed with the key {named}, the one given is of {given}"));
        }
        Err(_) => return Some("it does not name its key".to_owned()),
    };
    if string_of(&signed.parameters, "alg").is_some_and(|alg| alg != ALGORITHM) {
        return Some(format!("it names another algorithm than {ALGORITHM}"));
    }
    let base = match signature_base(signed, answer, request) {
        Ok(base) => base,
        Err(component) => {
            return Some(format!("it covers {}, which cannot be", printable(&component)));
        }
    };
    (!verify_signature(base.as_bytes(), &signed.signature, key.public_key()))
        .then(|| format!("the key {} did not sign this answer to this request", key.public_key()))
}

/// What was signed (RFC 9421, 2.5).
fn signature_base(
    signed: &Signed<'_>,
    answer: &ReceivedAnswer,
    request: &SentRequest,
) -> Result<String, String> {
    let mut base = String::new();
    let mut covered = Vec::new();
    for item in &signed.components {
        let component = component(item).ok_or("a component of another form")?;
        let (name, is_of_request) = component;
        if covered.contains(&component) {
            return Err(format!("{name} twice"));
        }
        covered.push(component);
        let value = value_of(name, is_of_request, answer, request);
        let value = value.ok_or_else(|| name.to_owned())?;
        let parameter = if is_of_request { ";req" } else { "" };
        base.push_str(&format!("{}{parameter}: {value}\n", quoted(name)));
    }
    base.push_str(&format!("\"@signature-params\": {}", signed.input));
    Ok(base)
}

/// The name of a component, and whether it is one of the request; `None` for any other parameter than `req`.
fn component(item: &FieldItem) -> Option<(&str, bool)> {
    let Bare::String(name) = &item.bare else { return None };
    match item.parameters.as_slice() {
        [] => Some((name, false)),
        [(parameter, Bare::Boolean(true))] if parameter == "req" => Some((name, true)),
        _ => None,
    }
}

/// The value of a component, if the exchange has it.
fn value_of(
    name: &str,
    is_of_request: bool,
    answer: &ReceivedAnswer,
    request: &SentRequest,
) -> Option<String> {
    match (name, is_of_request) {
        ("@status", false) => Some(answer.status.to_string()),
        ("@method", true) => Some(request.method.clone()),
        ("@path", true) => Some(request.path.clone()),
        ("@query", true) => Some(request.query.clone()),
        (header, false) => answer.header(header),
        (_, true) => None,
    }
}

/// Checks the digests of both bodies, where they are signed.
fn check_content(
    signed: &Signed<'_>,
    answer: &ReceivedAnswer,
    request: &SentRequest,
    report: &mut Report,
) {
    let bodies = [
        ("content-digest", Some(&answer.body), "the body of the answer"),
        ("swarm-request-digest", request.body.as_ref(), "the body of the request"),
    ];
    for (header, body, what) in bodies {
        match (signed.covers(header, false), body) {
            (true, Some(body)) => {
                let given = answer.header(header).unwrap_or_default();
                let differs = given != content_digest(body);
                let fault = differs.then(|| format!("{what} is not the one that was signed"));
                report.conclude(
                    Check::Content,
                    fault.into_iter().collect::<Faults>(),
                    format!("{what} is the one that was signed"),
                );
            }
            (true, None) => report.unproven(Check::Content, format!("{what} was not given")),
            (false, _) => {}
        }
    }
}

/// Returns the text of RFC 9530 for these bytes.
pub fn content_digest(body: &[u8]) -> String {
    digest_text(&Sha256::digest(body).into())
}

/// Returns the text of RFC 9530 for bytes with this SHA-256.
pub fn digest_text(sha256: &[u8; 32]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(sha256))
}

/// The signatures of an answer, from its two headers; `None` if one is no dictionary.
fn read_signatures<'a>(inputs: &'a str, signatures: &str) -> Option<Vec<Signed<'a>>> {
    let signatures = dictionary(signatures)?;
    let signed = dictionary(inputs)?.into_iter().filter_map(|member| {
        let FieldValue::List(components, parameters) = member.value else { return None };
        let signature = signatures.iter().find(|it| it.key == member.key)?;
        let FieldValue::Item(FieldItem { bare: Bare::Bytes(signature), .. }) = &signature.value
        else {
            return None;
        };
        let signature = Signature::parse(signature.as_str()).ok()?;
        Some(Signed { label: member.key, components, parameters, input: member.text, signature })
    });
    Some(signed.collect())
}
