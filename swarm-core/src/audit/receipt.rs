//! Receipts: answers that the server signed, as RFC 9421 has it (API.md, 11.7).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::finding::{Check, Finding, Report};
use super::key::{KeySource, LogKey};
use crate::domain::json::printable;
use crate::domain::{Invalid, Signature, Timestamp};
use crate::proof::holds;

/// An answer: what `curl -i` prints.
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
    /// Reads the last answer in what `curl -i` printed.
    ///
    /// # Errors
    /// [`Invalid`] when that is no HTTP answer.
    pub fn parse(printed: &[u8]) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("receipt", "must be an HTTP answer, as curl -i prints it");
        let mut rest = printed;
        loop {
            let (head, body) = split_head(rest).ok_or_else(invalid)?;
            let head = std::str::from_utf8(head).map_err(|_| invalid())?;
            let mut lines = head.lines();
            let status = lines.next().and_then(|line| line.strip_prefix("HTTP/"));
            let status = status.and_then(|line| line.split(' ').nth(1)?.parse().ok());
            let status: u16 = status.ok_or_else(invalid)?;
            // An interim answer, or one of a proxy, comes before the one that was asked for.
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

    /// The values of a header, joined as RFC 9421 has it; `None` where it is absent.
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
}

/// A signature of an answer: a member of `Signature-Input` with its `Signature`.
struct Signed<'a> {
    label: &'a str,
    /// The value in `Signature-Input`, exactly.
    input: &'a str,
    components: Vec<&'a str>,
    parameters: &'a str,
    signature: &'a str,
}

impl Signed<'_> {
    fn covers(&self, component: &str) -> bool {
        self.components
            .iter()
            .any(|it| *it == format!("\"{component}\"") || *it == format!("\"{component}\";req"))
    }
}

/// Checks that the log's key signed this answer to this request.
pub fn audit_receipt(answer: &ReceivedAnswer, request: &SentRequest, key: &LogKey) -> Vec<Finding> {
    let mut report = Report::default();
    let (inputs, signatures) = (answer.header("signature-input"), answer.header("signature"));
    let (inputs, signatures) = (inputs.unwrap_or_default(), signatures.unwrap_or_default());
    let signed = read_signatures(&inputs, &signatures);
    let Some(signed) = signed.iter().find(|it| is_of(it, key)).or(signed.first()) else {
        report.faults(Check::Receipt, vec!["the answer is not signed".to_owned()]);
        return report.into_findings();
    };
    let fault = signature_fault(signed, answer, request, key);
    let label = printable(signed.label);
    let holds = format!("{label} is signed by the key that you named; checked offline");
    report.conclude(Check::Receipt, fault.into_iter().collect(), holds);
    check_content(signed, answer, request, &mut report);
    let created = parameter(signed.parameters, "created").and_then(|it| it.parse::<i64>().ok());
    let time = created.and_then(|it| Timestamp::from_millis(it.saturating_mul(1_000)));
    let fault = time.is_none().then(|| "it does not say when it was created".to_owned());
    let (status, method, path) =
        (answer.status, printable(&request.method), printable(&request.path));
    let time = time.map_or_else(String::new, |time| time.to_string());
    let holds = format!("status {status} to {method} {path}, signed {time}");
    report.conclude(Check::Receipt, fault.into_iter().collect(), holds);
    for (component, what) in [
        ("@status", "the status"),
        ("@method", "the method of the request"),
        ("@path", "the path of the request"),
        ("content-digest", "the body of the answer"),
    ] {
        if !signed.covers(component) {
            report.unproven(Check::Receipt, format!("{what} is not signed"));
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
    let name = parameter(signed.parameters, "keyid").unwrap_or_default();
    key.verifier(name).is_ok_and(|key| key.name() == name)
}

fn signature_fault(
    signed: &Signed<'_>,
    answer: &ReceivedAnswer,
    request: &SentRequest,
    key: &LogKey,
) -> Option<String> {
    let name = parameter(signed.parameters, "keyid").unwrap_or_default();
    let key = match key.verifier(name) {
        Ok(key) if key.name() == name => key,
        Ok(key) => {
            let (given, named) = (printable(key.name()), printable(name));
            return Some(format!("it is signed with the key {named}, the one given is of {given}"));
        }
        Err(_) => return Some("it does not name its key".to_owned()),
    };
    let base = match signature_base(signed, answer, request) {
        Ok(base) => base,
        Err(component) => {
            return Some(format!("it covers {}, which is not there", printable(&component)));
        }
    };
    let signature = signed.signature.strip_prefix(':').and_then(|it| it.strip_suffix(':'));
    let signature = signature.and_then(|it| Signature::parse(it).ok());
    let is_signed = signature.is_some_and(|it| holds(base.as_bytes(), &it, key.public_key()));
    (!is_signed)
        .then(|| format!("the key {} did not sign this answer to this request", key.public_key()))
}

/// What was signed (RFC 9421, 2.5).
fn signature_base(
    signed: &Signed<'_>,
    answer: &ReceivedAnswer,
    request: &SentRequest,
) -> Result<String, String> {
    let mut base = String::new();
    for component in &signed.components {
        let value = match *component {
            "\"@status\"" => Some(answer.status.to_string()),
            "\"@method\";req" => Some(request.method.clone()),
            "\"@path\";req" => Some(request.path.clone()),
            "\"@query\";req" => Some(request.query.clone()),
            name => {
                let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
                name.and_then(|name| answer.header(name))
            }
        };
        let value = value.ok_or_else(|| (*component).to_owned())?;
        base.push_str(&format!("{component}: {value}\n"));
    }
    base.push_str(&format!("\"@signature-params\": {}", signed.input));
    Ok(base)
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
        match (signed.covers(header), body) {
            (true, Some(body)) => {
                let given = answer.header(header).unwrap_or_default();
                let differs = given != content_digest(body);
                let fault = differs.then(|| format!("{what} is not the one that was signed"));
                report.conclude(
                    Check::Content,
                    fault.into_iter().collect(),
                    format!("{what} is the one that was signed"),
                );
            }
            (true, None) => report.unproven(Check::Content, format!("{what} was not given")),
            (false, Some(_)) if header == "swarm-request-digest" => {
                report.unproven(Check::Content, format!("{what} is not signed"));
            }
            (false, _) => {}
        }
    }
}

/// The text of RFC 9530 for these bytes.
pub fn content_digest(body: &[u8]) -> String {
    digest_text(&Sha256::digest(body).into())
}

/// The text of RFC 9530 for bytes with this SHA-256.
pub fn digest_text(sha256: &[u8; 32]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(sha256))
}

/// The signatures of an answer, from its two headers, which are dictionaries of RFC 8941.
fn read_signatures<'a>(inputs: &'a str, signatures: &'a str) -> Vec<Signed<'a>> {
    let signatures = members(signatures);
    let signed = members(inputs).into_iter().filter_map(|(label, input)| {
        let (_, signature) = signatures.iter().find(|(other, _)| *other == label)?;
        let (components, parameters) = input.strip_prefix('(')?.split_once(')')?;
        let components = components.split_ascii_whitespace().collect();
        Some(Signed { label, input, components, parameters, signature })
    });
    signed.collect()
}

/// The members of a dictionary, each with its value as it was written.
fn members(text: &str) -> Vec<(&str, &str)> {
    split(text, b',').into_iter().filter_map(|part| part.trim().split_once('=')).collect()
}

/// A parameter of a signature, without quotation marks.
fn parameter<'a>(parameters: &'a str, name: &str) -> Option<&'a str> {
    let named = |part: &'a str| part.split_once('=').filter(|(it, _)| *it == name);
    let (_, value) = split(parameters, b';').into_iter().find_map(named)?;
    Some(value.trim_matches('"'))
}

/// The parts between separators that are in no string.
fn split(text: &str, separator: u8) -> Vec<&str> {
    let (mut in_string, mut escaped, mut begin, mut parts) = (false, false, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            byte if byte == separator && !in_string => {
                parts.extend(text.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(begin..));
    parts
}
