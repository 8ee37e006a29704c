//! The one host that a request names.

use warp::http::header::{CONTENT_TYPE, HOST, HeaderValue};
use warp::http::uri::Authority;
use warp::http::{Request, StatusCode};
use warp::reply::Response;

/// Refuses a target without a path (as of CONNECT), and leaves exactly one host in the headers: an
/// absolute target's, which goes before the Host header (RFC 9112, section 3.2.2), or that one.
pub(super) fn settle_host<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = hosts.next().ok_or(r#"{"error":"missing host"}"#)?.as_bytes();
    let target = request.uri().authority().map(|target| target.as_str().as_bytes());
    if request.uri().path_and_query().is_none() {
        return Err(r#"{"error":"invalid target"}"#);
    }
    if hosts.next().is_some() || !is_host(named) || !target.is_none_or(is_host) {
        return Err(INVALID_HOST);
    }
    if let Some(target) = target {
        let target = HeaderValue::from_bytes(target).map_err(|_| INVALID_HOST)?;
        request.headers_mut().insert(HOST, target);
    }
    Ok(())
}

/// Whether it is a host and perhaps a port, nothing else (RFC 9110, section 7.2).
fn is_host(text: &[u8]) -> bool {
    Authority::try_from(text).is_ok_and(|authority| {
        let host = authority.host();
        let port = authority.as_str().strip_prefix(host);
        !host.is_empty()
            && port.is_some_and(|port| matches!(port, "" | ":") || authority.port_u16().is_some())
    })
}

const INVALID_HOST: &str = r#"{"error":"invalid host"}"#;

pub(super) fn bad_request(json: &'static str) -> Response {
    let mut response = Response::new(json.into());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
