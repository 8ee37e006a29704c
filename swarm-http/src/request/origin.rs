//! The origin that a client used: scheme and host (API.md, 2).

use http::{HeaderMap, HeaderValue};

use crate::site::Origins;
use crate::tenants::Host;

/// The origin that a request was sent to. Its host has no port that its scheme implies, as in the origins of browsers
/// (RFC 6454): proxies often add one.
#[derive(Clone)]
pub(crate) struct Origin {
    https: bool,
    host: Option<Host>,
}

impl Origin {
    /// The origin of a request to `host`. The headers of a trusted proxy take precedence:
    /// `X-Forwarded-Host` if it is a valid host, and `X-Forwarded-Proto` if it is http or https.
    pub(crate) fn of(host: Option<Host>, headers: &HeaderMap, by: Origins) -> Self {
        if !by.trust_forwarded {
            return Self::new(by.over_tls, host);
        }
        let forwarded = |name| headers.get(name).map(first);
        let https = match forwarded("x-forwarded-proto") {
            Some(text) if text.eq_ignore_ascii_case(b"https") => true,
            Some(text) if text.eq_ignore_ascii_case(b"http") => false,
            _ => by.over_tls,
        };
        Self::new(https, forwarded("x-forwarded-host").and_then(Host::parse).or(host))
    }

    fn new(https: bool, host: Option<Host>) -> Self {
        let implied = if https { 443 } else { 80 };
        Self { https, host: host.map(|host| host.without_port(implied)) }
    }

    pub(crate) fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    #[cfg(feature = "pages")]
    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// For links in the answer: `https://acme.example`.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", self.host.as_ref().map_or("localhost", Host::as_str))
    }
}

/// The first of several values: proxies append theirs, so it is the one that the client used.
fn first(value: &HeaderValue) -> &[u8] {
    value.as_bytes().split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_that_the_scheme_implies_is_left_out() {
        for (proto, host, expected) in [
            ("https", "acme.example:443", "https://acme.example"),
            ("http", "acme.example:80", "http://acme.example"),
            ("https", "acme.example:80", "https://acme.example:80"),
            ("http", "acme.example:443", "http://acme.example:443"),
            ("https", "[::1]:443", "https://[::1]"),
            ("https", "acme.example", "https://acme.example"),
        ] {
            let by = |trust_forwarded| Origins { trust_forwarded, over_tls: proto == "https" };
            let direct = Origin::of(Host::parse(host), &HeaderMap::new(), by(false));
            assert_eq!(direct.url(), expected);
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-host", HeaderValue::from_static(host));
            headers.insert("x-forwarded-proto", HeaderValue::from_static(proto));
            assert_eq!(Origin::of(Host::parse("localhost"), &headers, by(true)).url(), expected);
        }
    }
}
