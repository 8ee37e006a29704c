//! The one host that a request names.

use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http::{Request, Response};
use swarm_core::wire;
use swarm_http::Host;

/// Refuses a target without a path (as of CONNECT), and leaves exactly one host in the headers: an
/// absolute target's, which goes before the Host header (RFC 9112, section 3.2.2), or that one.
pub(crate) fn settle_host<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = hosts.next().ok_or("missing host")?;
    if request.uri().path_and_query().is_none() {
        return Err("invalid target");
    }
    if hosts.next().is_some() || Host::parse(named).is_none() {
        return Err(INVALID_HOST);
    }
    if let Some(target) = request.uri().authority() {
        let target = Host::parse(target.as_str()).ok_or(INVALID_HOST)?;
        let target = HeaderValue::try_from(target.as_str()).map_err(|_| INVALID_HOST)?;
        request.headers_mut().insert(HOST, target);
    }
    Ok(())
}

const INVALID_HOST: &str = "invalid host";

/// What is answered to a request that names no one host.
pub(crate) fn bad_request<B: From<Bytes>>(error: &'static str) -> Response<B> {
    swarm_http::response(wire::Answer::error(400, error))
}
