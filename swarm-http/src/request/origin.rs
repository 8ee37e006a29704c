//! The origin that a client named: the host, and how it reached it (API.md, 2).

use http::HeaderMap;
use http::uri::Authority;

use crate::site::Origins;

/// Where a request was sent to.
pub(crate) struct Origin {
    https: bool,
    host: Option<Authority>,
}

impl Origin {
    /// The origin of a request to `host`. Where a proxy is trusted, its headers take precedence:
    /// `X-Forwarded-Host`, if it is a host, and `X-Forwarded-Proto`, if it is http or https.
    pub(crate) fn of(host: Option<Authority>, headers: &HeaderMap, by: Origins) -> Self {
        if !by.trust_forwarded {
            return Self { https: by.over_tls, host };
        }
        let forwarded = |name| headers.get(name).and_then(first);
        let is = |scheme: &str, text: &str| text.eq_ignore_ascii_case(scheme);
        let https = match forwarded("x-forwarded-proto") {
            Some(text) if is("https", text) => true,
            Some(text) if is("http", text) => false,
            _ => by.over_tls,
        };
        let named = forwarded("x-forwarded-host").and_then(|host| host.parse().ok());
        Self { https, host: named.filter(is_host).or(host) }
    }

    pub(crate) fn host(&self) -> Option<&Authority> {
        self.host.as_ref()
    }

    /// For links in the answer: `https://acme.example`.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", self.host.as_ref().map_or("localhost", Authority::as_str))
    }
}

/// Each proxy appends: the first value is what the client asked for.
fn first(value: &http::HeaderValue) -> Option<&str> {
    value.to_str().ok()?.split(',').next().map(str::trim)
}

fn is_host(authority: &Authority) -> bool {
    !authority.host().is_empty() && !authority.as_str().contains('@')
}
