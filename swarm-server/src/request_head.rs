//! Checks the head of a request: its host, and the framing of its body.

use bytes::Bytes;
use http::header::{HOST, HeaderValue, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Request, Response, Version};
use swarm_core::wire::{self, RequestError};
use swarm_http::Host;

/// Refuses a target without a path (as in CONNECT), and a request without exactly one valid Host header.
/// The host of an absolute target replaces that of the header (RFC 9112, section 3.2.2). A probe in HTTP/1.0 needs no
/// Host, and that of any probe may be empty.
pub(crate) fn normalize_host<B>(request: &mut Request<B>) -> Result<(), RequestError> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = match hosts.next() {
        Some(named) => named,
        None if is_probe(request) => return take_host(request),
        None => return Err(RequestError::MissingHost),
    };
    if request.uri().path_and_query().is_none() {
        return Err(RequestError::InvalidTarget);
    }
    let is_empty_of_probe = named.as_bytes().trim_ascii().is_empty() && is_for_server(request);
    if hosts.next().is_some() || (Host::parse(named).is_none() && !is_empty_of_probe) {
        return Err(RequestError::InvalidHost);
    }
    take_host(request)
}

/// Takes the host from an absolute target.
fn take_host<B>(request: &mut Request<B>) -> Result<(), RequestError> {
    if let Some(target) = request.uri().authority() {
        let target = Host::parse(target.as_str()).ok_or(RequestError::InvalidHost)?;
        let target = HeaderValue::try_from(target.as_str());
        request.headers_mut().insert(HOST, target.map_err(|_| RequestError::InvalidHost)?);
    }
    Ok(())
}

/// Whether a request is what load balancers send by default to learn of the health of a server: in HTTP/1.0, which has
/// no Host.
fn is_probe<B>(request: &Request<B>) -> bool {
    request.version() == Version::HTTP_10 && is_for_server(request)
}

/// Whether a request is answered alike on every host: one to a path of the server, or for the options of any path.
fn is_for_server<B>(request: &Request<B>) -> bool {
    matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics")
        || request.method() == Method::OPTIONS
}

/// Refuses a body with several transfer encodings or one other than chunked, because a proxy might see a
/// different end of the body (RFC 9112, section 6.3). hyper refuses invalid lengths.
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), RequestError> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    let chunked =
        encodings.next().is_none_or(|one| one.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if chunked && encodings.next().is_none() { Ok(()) } else { Err(RequestError::InvalidFraming) }
}

/// The answer to a request for this path with these headers, with an invalid head.
pub(crate) fn bad_request<B: From<Bytes>>(
    path: &str,
    request: &HeaderMap,
    error: &RequestError,
) -> Response<B> {
    swarm_http::response(path, request, wire::Answer::from(error))
}
