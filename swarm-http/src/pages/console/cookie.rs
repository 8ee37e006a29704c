//! The cookie of a sign-in, and the origins that may have one.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::HeaderMap;
use http::header::COOKIE;

use crate::request::origin::Origin;
use crate::tenants::{Host, TenantConfig};

/// The name of the cookie, after its prefix.
const NAME: &str = "swarm";

/// The cookie of a tenant's console.
pub(super) struct Cookie {
    name: String,
    path: String,
    is_secure: bool,
}

impl Cookie {
    /// The cookie at this origin; `None` where a token must not be sent: over plain HTTP from another machine.
    ///
    /// At the root of a host, browsers accept its name only from the host itself, over HTTPS, for all of its paths
    /// (`__Host-`). Below a path, the cookie is for that path alone: other programs of the host do not get it, and the
    /// consoles of several tenants have one each.
    pub(super) fn of(origin: &Origin, tenant: &TenantConfig) -> Option<Self> {
        let is_secure = origin.is_https();
        if !is_secure && !is_local(origin) {
            return None;
        }
        let base = tenant.base_path().as_str();
        let name = match (base.is_empty(), is_secure) {
            (true, true) => format!("__Host-{NAME}"),
            (true, false) => NAME.to_owned(),
            (false, true) => format!("__Secure-{NAME}-{}", tenant.id),
            (false, false) => format!("{NAME}-{}", tenant.id),
        };
        let path = if base.is_empty() { "/".to_owned() } else { base.to_owned() };
        Some(Self { name, path, is_secure })
    }

    /// The value, if a request has exactly one.
    pub(super) fn value<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let sent = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let pairs = sent.flat_map(|cookies| cookies.split(';')).map(str::trim);
        let mut values =
            pairs.filter_map(|pair| pair.split_once('=')).filter(|(other, _)| *other == self.name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }

    /// `Set-Cookie` with this value.
    pub(super) fn set(&self, value: &str) -> String {
        let Self { name, path, is_secure } = self;
        let secure = if *is_secure { "; Secure" } else { "" };
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path={path}{secure}")
    }

    /// `Set-Cookie` that removes the cookie.
    pub(super) fn clear(&self) -> String {
        self.set("") + "; Max-Age=0"
    }
}

/// Whether the host is the machine itself.
fn is_local(origin: &Origin) -> bool {
    let Some(host) = origin.host().map(Host::name) else { return false };
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || v6.and_then(|host| host.parse().ok()) == Some(Ipv6Addr::LOCALHOST)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use swarm_core::TenantId;

    use super::*;
    use crate::site::Origins;
    use crate::tenants::{AdminTokens, BasePath};

    fn cookie(host: &str, over_tls: bool, base: &str) -> Option<Cookie> {
        let origins = Origins { trust_forwarded: false, over_tls };
        let origin = Origin::of(Host::parse(host), &HeaderMap::new(), origins);
        let tenant = TenantConfig::new(TenantId::parse("acme").unwrap(), AdminTokens::new());
        Cookie::of(&origin, &tenant.below(BasePath::parse(base).unwrap()))
    }

    #[test]
    fn plain_http_is_for_the_machine_itself() {
        let named = |host, over_tls| cookie(host, over_tls, "").map(|cookie| cookie.name);
        for local in ["localhost", "localhost:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:80"] {
            assert_eq!(named(local, false).as_deref(), Some("swarm"), "{local}");
        }
        for other in ["acme.example", "localhost.acme.example", "128.0.0.1", "[::2]", "127.1"] {
            assert_eq!(named(other, false), None, "{other}");
            assert_eq!(named(other, true).as_deref(), Some("__Host-swarm"), "{other}");
        }
    }

    #[test]
    fn cookie_is_found_among_others_once() {
        let value_of = |cookies: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(COOKIE, HeaderValue::from_static(cookie));
            }
            let local = cookie("localhost", false, "").unwrap();
            local.value(&headers).map(str::to_owned)
        };
        assert_eq!(value_of(&["a=b; swarm=x;c=d"]).as_deref(), Some("x"));
        assert_eq!(value_of(&["a=b", "swarm=x"]).as_deref(), Some("x"));
        for none in [&[][..], &["swarm=x; swarm=y"], &["__Host-swarm=x"], &["swarmed=x"]] {
            assert_eq!(value_of(none), None, "{none:?}");
        }
    }

    #[test]
    fn cookie_is_of_its_path() {
        let set = |over_tls, base| cookie("localhost", over_tls, base).unwrap().set("x");
        let attributes = "HttpOnly; SameSite=Strict";
        assert_eq!(set(false, ""), format!("swarm=x; {attributes}; Path=/"));
        assert_eq!(set(true, ""), format!("__Host-swarm=x; {attributes}; Path=/; Secure"));
        assert_eq!(set(false, "/a/b"), format!("swarm-acme=x; {attributes}; Path=/a/b"));
        assert_eq!(
            set(true, "/a/b"),
            format!("__Secure-swarm-acme=x; {attributes}; Path=/a/b; Secure")
        );
    }
}
