//! The one host that a request names.

use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http::uri::Authority;
use http::{Request, Response};
use swarm_core::wire;

/// Refuses a target without a path (as of CONNECT), and leaves exactly one host in the headers: an
/// absolute target's, which goes before the Host header (RFC 9112, section 3.2.2), or that one.
pub(crate) fn settle_host<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = hosts.next().ok_or("missing host")?.as_bytes();
    let target = request.uri().authority().map(|target| target.as_str().as_bytes());
    if request.uri().path_and_query().is_none() {
        return Err("invalid target");
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
    is_name(text) || is_authority(text)
}

/// Whether it is a host of letters, digits, dots and hyphens, as nearly all are, and perhaps a port.
fn is_name(text: &[u8]) -> bool {
    let (host, port) = match text.iter().position(|byte| *byte == b':') {
        Some(colon) => text.split_at(colon),
        None => (text, &b""[..]),
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let digits = port.get(1..).unwrap_or_default();
    let is_port = || std::str::from_utf8(digits).is_ok_and(|port| port.parse::<u16>().is_ok());
    !host.is_empty()
        && host.iter().all(is_plain)
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() < 5 || is_port())
}

fn is_authority(text: &[u8]) -> bool {
    Authority::try_from(text).is_ok_and(|authority| {
        let host = authority.host();
        let port = authority.as_str().strip_prefix(host);
        !host.is_empty()
            && port.is_some_and(|port| matches!(port, "" | ":") || authority.port_u16().is_some())
    })
}

const INVALID_HOST: &str = "invalid host";

/// What is answered to a request that names no one host.
pub(crate) fn bad_request<B: From<Bytes>>(error: &'static str) -> Response<B> {
    swarm_http::response(wire::Answer::error(400, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_authority() {
        let hosts =
            ["", "a", "acme.example", "127.0.0.1", "-a.", "a_b", "[::1]", "a@b", "é", "a b"];
        let ports = [
            "", ":", ":0", ":80", ":8080", ":65535", ":65536", ":080800", ":8a", "::", ":80:80",
            ":-1",
        ];
        for host in hosts {
            for port in ports {
                let text = format!("{host}{port}");
                let (name, authority) = (is_name(text.as_bytes()), is_authority(text.as_bytes()));
                assert!(authority || !name, "{text}");
            }
        }
        assert!(is_name(b"acme.example:65535") && is_name(b"127.0.0.1"));
    }
}
