//! The cookie of a session, and the origins that may have one.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::HeaderMap;
use http::header::COOKIE;

use crate::request::origin::Origin;

/// Browsers accept the name only from the host itself, over HTTPS, for all of its paths.
const SECURE: &str = "__Host-swarm";

/// The name on the machine itself, over plain HTTP.
const LOCAL: &str = "swarm";

/// The name of the cookie at this origin; `None` where a token must not be sent: over plain HTTP from another machine.
pub(super) fn name(origin: &Origin) -> Option<&'static str> {
    if origin.is_https() {
        return Some(SECURE);
    }
    let host = origin.host()?.name();
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_local = host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || v6.and_then(|host| host.parse().ok()) == Some(Ipv6Addr::LOCALHOST);
    is_local.then_some(LOCAL)
}

/// The value of the cookie with this name, if there is exactly one.
pub(super) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let sent = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = sent.flat_map(|cookies| cookies.split(';')).map(str::trim);
    let mut values =
        pairs.filter_map(|pair| pair.split_once('=')).filter(|(other, _)| *other == name);
    let (_, value) = values.next()?;
    values.next().is_none().then_some(value)
}

/// `Set-Cookie` with this value.
pub(super) fn set(name: &str, value: &str) -> String {
    let secure = if name == SECURE { "; Secure" } else { "" };
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/{secure}")
}

/// `Set-Cookie` that removes the cookie.
pub(super) fn clear(name: &str) -> String {
    set(name, "") + "; Max-Age=0"
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::site::Origins;
    use crate::tenants::Host;

    fn named(host: &str, over_tls: bool) -> Option<&'static str> {
        let origins = Origins { trust_forwarded: false, over_tls };
        name(&Origin::of(Host::parse(host), &HeaderMap::new(), origins))
    }

    #[test]
    fn plain_http_is_for_the_machine_itself() {
        for local in ["localhost", "localhost:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:80"] {
            assert_eq!(named(local, false), Some(LOCAL), "{local}");
        }
        for other in ["acme.example", "localhost.acme.example", "128.0.0.1", "[::2]", "127.1"] {
            assert_eq!(named(other, false), None, "{other}");
            assert_eq!(named(other, true), Some(SECURE), "{other}");
        }
    }

    #[test]
    fn cookie_is_found_among_others_once() {
        let value_of = |cookies: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(COOKIE, HeaderValue::from_static(cookie));
            }
            value(&headers, LOCAL).map(str::to_owned)
        };
        assert_eq!(value_of(&["a=b; swarm=x;c=d"]).as_deref(), Some("x"));
        assert_eq!(value_of(&["a=b", "swarm=x"]).as_deref(), Some("x"));
        for none in [&[][..], &["swarm=x; swarm=y"], &["__Host-swarm=x"], &["swarmed=x"]] {
            assert_eq!(value_of(none), None, "{none:?}");
        }
    }

    #[test]
    fn secure_cookie_says_so() {
        assert_eq!(set(LOCAL, "x"), "swarm=x; HttpOnly; SameSite=Strict; Path=/");
        assert!(set(SECURE, "x").ends_with("; Secure"));
    }
}
