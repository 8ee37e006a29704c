//! Checks that a form comes from a page of the console itself.

use http::HeaderMap;
use http::header::ORIGIN;

use crate::request::origin::Origin;
use crate::tenants::single_header;

/// `Sec-Fetch-Site` must be `same-origin`; where a browser does not send it, `Origin` must be the origin in use.
pub(super) fn is_same_origin(headers: &HeaderMap, origin: &Origin) -> bool {
    const SITE: &str = "sec-fetch-site";
    if headers.contains_key(SITE) {
        return single_header(headers, SITE).is_some_and(|site| site == "same-origin");
    }
    single_header(headers, ORIGIN)
        .is_some_and(|sent| sent.as_bytes() == as_sent(&origin.url()).as_bytes())
}

/// The origin as browsers write it: without the port that its scheme implies.
fn as_sent(origin: &str) -> &str {
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).unwrap_or(origin)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::site::Origins;
    use crate::tenants::Host;

    fn holds(host: &str, sent: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let origins = Origins { trust_forwarded: false, over_tls: true };
        is_same_origin(&headers, &Origin::of(Host::parse(host), &headers, origins))
    }

    #[test]
    fn fetch_site_decides_where_it_is_sent() {
        const OWN: (&str, &str) = ("origin", "https://acme.example");
        const OTHER: (&str, &str) = ("origin", "https://evil.example");
        let site = |value| ("sec-fetch-site", value);
        assert!(holds("acme.example", &[site("same-origin"), OTHER]));
        for other in ["same-site", "cross-site", "none", "", "same-origin, same-origin"] {
            assert!(!holds("acme.example", &[site(other), OWN]), "{other}");
        }
        assert!(!holds("acme.example", &[site("same-origin"), site("cross-site"), OWN]));
        assert!(holds("acme.example", &[OWN]));
        assert!(holds("acme.example:443", &[OWN]));
        assert!(!holds("acme.example:444", &[OWN]));
        assert!(!holds("acme.example", &[OWN, OWN]));
        assert!(!holds("acme.example", &[]));
        for other in
            ["null", "http://acme.example", "https://acme.example.evil", "https://acme.example:8"]
        {
            assert!(!holds("acme.example", &[("origin", other)]), "{other}");
        }
    }
}
