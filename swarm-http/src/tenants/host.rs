//! Hosts of requests and of the configuration, and the configured origin of a tenant.

use std::fmt;
use std::net::Ipv6Addr;
use std::ops::Range;

use swarm_core::Invalid;

use super::BasePath;

/// A host with an optional port, in lower case: `acme.example`, `127.0.0.1:8080`, `[::1]:8080`.
///
/// A name consists of ASCII letters, digits, dots, hyphens and underscores, so that a host needs no
/// escaping in links and commands. RFC 3986 allows more, which no host on the internet uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    text: String,
    /// The end of the name, where the colon of the port follows, if there is one.
    name_end: usize,
}

impl Host {
    /// Maximum length of a host, in bytes: a name of 253 (RFC 1035) and a port.
    const MAX: usize = 253 + ":65535".len();

    /// Parses a host and an optional port, 0 to 65535. A colon without digits is no port (RFC 3986, section
    /// 3.2.3). `None` for anything else.
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        if text.len() > Self::MAX {
            return None;
        }
        let name_end = name_end(text)?;
        let (name, port) = text.split_at_checked(name_end)?;
        let port = match port {
            [] | [b':'] => &[][..],
            [b':', digits @ ..] if is_port(digits) => port,
            _ => return None,
        };
        let mut text = String::with_capacity(name.len() + port.len());
        text.extend(name.iter().chain(port).map(|byte| char::from(byte.to_ascii_lowercase())));
        Some(Self { text, name_end })
    }

    /// The name or address without the port; an IPv6 address is in brackets.
    pub fn name(&self) -> &str {
        self.part(0..self.name_end)
    }

    /// The port, if given.
    pub fn port(&self) -> Option<u16> {
        self.part(self.name_end + 1..self.text.len()).parse().ok()
    }

    /// The host without this port, or with another one.
    pub(crate) fn without_port(mut self, port: u16) -> Self {
        if self.port() == Some(port) {
            self.text.truncate(self.name_end);
        }
        self
    }

    /// The name and the port.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn part(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// The length of the name at the start; `None` if there is none.
fn name_end(text: &[u8]) -> Option<usize> {
    if text.first() == Some(&b'[') {
        let close = text.iter().position(|byte| *byte == b']')?;
        let address = std::str::from_utf8(text.get(1..close)?).ok()?;
        return address.parse::<Ipv6Addr>().is_ok().then_some(close + 1);
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    (end > 0).then_some(end)
}

/// `u16::from_str` would also accept a sign.
fn is_port(digits: &[u8]) -> bool {
    let text = std::str::from_utf8(digits).unwrap_or_default();
    digits.iter().all(u8::is_ascii_digit) && text.parse::<u16>().is_ok()
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Host {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
            .ok_or_else(|| Invalid::new("host", "must be a host with an optional port"))
    }
}

/// The configured origin of a tenant, for links: a scheme and a host with an optional port, in lower case
/// (`https://acme.example`, `http://acme.example:8080`), and the path below which the tenant is served, if it is not served
/// at the root of the host (`https://acme.example/opinions`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin {
    /// The scheme and the host.
    origin: String,
    path: BasePath,
}

impl PublicOrigin {
    /// Parses an origin with an optional path.
    ///
    /// # Errors
    /// [`Invalid`] for anything but `http://` or `https://`, a host and a [`BasePath`].
    pub fn parse(text: impl AsRef<str>) -> Result<Self, Invalid> {
        let parts = text.as_ref().split_once("://");
        let origin = parts.and_then(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = Host::parse(host).filter(|_| matches!(&*scheme, "http" | "https"))?;
            Some(Self { origin: format!("{scheme}://{host}"), path: BasePath::parse(path).ok()? })
        });
        let rule = "must be http:// or https:// and a host in ASCII (an international domain as xn--…), perhaps with a path that ends without a slash, nothing more";
        origin.ok_or_else(|| Invalid::new("public_origin", rule))
    }

    /// The scheme and the host.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The host, without its port.
    pub fn host(&self) -> &str {
        let host = self.origin.split_once("://").map_or("", |(_, host)| host);
        let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name)
    }

    /// The path; empty at the root of the host.
    pub fn path(&self) -> &BasePath {
        &self.path
    }
}

impl fmt::Display for PublicOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, path } = self;
        write!(f, "{origin}{path}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lowercased() {
        for (text, name, port) in [
            ("acme.example", "acme.example", None),
            ("WWW.Acme.example:8080", "www.acme.example", Some(8080)),
            ("127.0.0.1:0", "127.0.0.1", Some(0)),
            ("a_b-c.", "a_b-c.", None),
            ("a:", "a", None),
            ("a:65535", "a", Some(65535)),
            ("[::1]", "[::1]", None),
            ("[::FFFF:1.2.3.4]:80", "[::ffff:1.2.3.4]", Some(80)),
        ] {
            let host = Host::parse(text).unwrap();
            assert_eq!((host.name(), host.port()), (name, port), "{text}");
            assert_eq!(host.as_str(), text.to_lowercase().trim_end_matches(':'));
        }
    }

    #[test]
    fn invalid_hosts_are_rejected() {
        for text in [
            "",
            ":80",
            "a:http",
            "a:99999",
            "a:65536",
            "a:+80",
            "a:-1",
            "a:8a",
            "a::",
            "a:80:80",
            "a:$(id)",
            "x;$(id)",
            "a'b",
            "a b",
            "a@b",
            "a/b",
            "a%20b",
            "é",
            "a,b",
            "[::1",
            "[]",
            "[x]",
            "[::1]x",
            "[::1]80",
            "[fe80::1%25eth0]",
            "http://a",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
        assert_eq!(Host::parse("a".repeat(300)), None);
    }

    #[test]
    fn public_origin_may_have_a_path() {
        for (text, origin, host, path) in [
            ("https://acme.example", "https://acme.example", "acme.example", ""),
            ("HTTP://Acme.example:80/a/B", "http://acme.example:80", "acme.example", "/a/B"),
            ("https://[::1]:8/a", "https://[::1]:8", "[::1]", "/a"),
        ] {
            let parsed = PublicOrigin::parse(text).unwrap();
            assert_eq!(parsed.to_string(), format!("{origin}{path}"));
            assert_eq!((parsed.origin(), parsed.host()), (origin, host));
            assert_eq!(parsed.path().as_str(), path);
        }
        for text in [
            "acme.example",
            "ftp://acme.example",
            "https:///a",
            "https://acme.example/",
            "https://acme.example/a/",
            "https://acme.example/a?b",
            "https://acme.example#a",
            "https://user@acme.example/a",
        ] {
            assert!(PublicOrigin::parse(text).is_err(), "{text}");
        }
    }
}
