//! Receipts: answers that are signed on request (RFC 9421; API.md, 11.7).

mod accept_signature;

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, DATE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use swarm_core::audit::content_digest;
use swarm_core::domain::Timestamp;
use swarm_core::proof::note::NoteSigner;
use swarm_core::proof::structured_fields::quoted;

use super::Answer;
use super::answer::{SWARM_ENTRY, SWARM_SEAL};
pub(crate) use accept_signature::RequestedSignatures;
use accept_signature::{Component, Member, Parameter};

const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const REQUEST_DIGEST: HeaderName = HeaderName::from_static("swarm-request-digest");

/// The request that is answered.
pub(crate) struct Exchange {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// The query, without the question mark.
    pub(crate) query: String,
    pub(crate) body: RequestBody,
}

/// The body of the request that is answered.
pub(crate) enum RequestBody {
    /// There was none, or it was empty.
    Absent,
    /// All of it arrived; the text of RFC 9530 for it.
    Whole(String),
    /// It was not read to its end: too large, too slow or incomplete. No signature can cover it.
    Unread,
}

/// Signs an answer with the signatures that the request asks for. Server errors are not signed: they decide nothing.
pub(crate) fn signed(
    answer: Answer,
    requested: &RequestedSignatures,
    exchange: &Exchange,
    key: &NoteSigner,
    now: Timestamp,
) -> Answer {
    if answer.status.is_server_error() {
        return answer;
    }
    match with_signatures(&answer, requested, exchange, key, now) {
        Some(headers) => Answer { headers, ..answer },
        None => answer,
    }
}

/// The headers of the signed answer; `None` if no member can be fulfilled.
fn with_signatures(
    answer: &Answer,
    requested: &RequestedSignatures,
    exchange: &Exchange,
    key: &NoteSigner,
    now: Timestamp,
) -> Option<HeaderMap> {
    let seconds = u64::try_from(now.millis()).unwrap_or_default() / 1_000;
    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    // An answer to HEAD has no content.
    let content: &[u8] = if exchange.method == Method::HEAD { b"" } else { &answer.body };
    let mut headers = answer.headers.clone();
    let mut set = |name, text: String| {
        let value = HeaderValue::try_from(text).ok()?;
        headers.insert(name, value);
        Some(())
    };
    set(DATE, httpdate::fmt_http_date(date))?;
    set(CONTENT_DIGEST, content_digest(content))?;
    let has_body = match &exchange.body {
        RequestBody::Absent => false,
        RequestBody::Whole(digest) => {
            set(REQUEST_DIGEST, digest.clone())?;
            true
        }
        RequestBody::Unread => return None,
    };
    let value_of = |component| value(component, answer, &headers, exchange);
    let covering = requested.0.iter().filter(|member| !has_body || member.covers_request_body());
    let signatures = covering.filter_map(|member| sign(member, &value_of, key, seconds));
    let (inputs, signatures): (Vec<_>, Vec<_>) = signatures.unzip();
    if inputs.is_empty() {
        return None;
    }
    headers.insert(SIGNATURE_INPUT, HeaderValue::try_from(inputs.join(", ")).ok()?);
    headers.insert(SIGNATURE, HeaderValue::try_from(signatures.join(", ")).ok()?);
    headers.append(VARY, HeaderValue::from_static("Accept-Signature"));
    // The digest is of the bytes that are sent.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform"));
    Some(headers)
}

/// The value of a component, if the exchange has it.
fn value(
    component: Component,
    answer: &Answer,
    headers: &HeaderMap,
    exchange: &Exchange,
) -> Option<String> {
    let header = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
    match component {
        Component::Status => Some(answer.status.as_str().to_owned()),
        Component::ContentDigest => header(CONTENT_DIGEST),
        Component::Date => header(DATE),
        Component::Method => Some(exchange.method.to_string()),
        Component::Path => Some(exchange.path.clone()),
        Component::Query => Some(format!("?{}", exchange.query)),
        Component::ContentType => header(CONTENT_TYPE),
        Component::RequestDigest => header(REQUEST_DIGEST),
        Component::Entry => header(SWARM_ENTRY),
        Component::Seal => header(SWARM_SEAL),
    }
}

/// The members of `Signature-Input` and `Signature`; `None` if a component is missing, or another key was requested.
fn sign(
    member: &Member,
    value: &impl Fn(Component) -> Option<String>,
    key: &NoteSigner,
    created: u64,
) -> Option<(String, String)> {
    let name = key.verifier().name();
    let is_all = member.components.is_empty();
    let wanted = if is_all { &Component::ALL[..] } else { &member.components };
    let (mut base, mut identifiers) = (String::new(), Vec::new());
    for component in wanted {
        let identifier = component.identifier();
        match value(*component) {
            Some(value) => {
                let _ = writeln!(base, "{identifier}: {value}");
                identifiers.push(identifier);
            }
            None if is_all => {}
            None => return None,
        }
    }
    let mut input = format!("({})", identifiers.join(" "));
    let (created, key_id) = (format!(";created={created}"), format!(";keyid={}", quoted(name)));
    for parameter in &member.parameters {
        match parameter {
            Parameter::Created => input.push_str(&created),
            Parameter::KeyId(asked) if asked != name => return None,
            Parameter::KeyId(_) => input.push_str(&key_id),
            Parameter::Nonce(nonce) => input.push_str(&format!(";nonce={}", quoted(nonce))),
            Parameter::Tag(tag) => input.push_str(&format!(";tag={}", quoted(tag))),
            Parameter::Algorithm => input.push_str(";alg=\"ed25519\""),
        }
    }
    if !member.parameters.contains(&Parameter::Created) {
        input.push_str(&created);
    }
    if !member.parameters.iter().any(|it| matches!(it, Parameter::KeyId(_))) {
        input.push_str(&key_id);
    }
    let _ = write!(base, "\"@signature-params\": {input}");
    let signature = STANDARD.encode(key.sign_bytes(base.as_bytes()));
    let label = &member.label;
    Some((format!("{label}={input}"), format!("{label}=:{signature}:")))
}
