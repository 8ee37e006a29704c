//! Checks of the page that a request comes from. What a browser sends by itself, such as a cookie, does not show that its user meant
//! the request.

use http::header::ORIGIN;
use http::{HeaderMap, Method};

use super::origin::Origin;
use crate::tenants::single_header;

/// The header in which a browser says how the page that sends a request is related to the service.
pub(crate) const FETCH_SITE: &str = "sec-fetch-site";

/// Returns whether the request is a change that a browser sends for a page of another origin. Programs send neither `Origin` nor
/// `Sec-Fetch-Site`; a browser sends `Sec-Fetch-Site: none` for an address that its user typed.
pub(crate) fn is_change_of_other_site(
    method: &Method,
    headers: &HeaderMap,
    origin: &Origin,
) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return false;
    }
    if headers.contains_key(FETCH_SITE) {
        return !["same-origin", "none"].iter().any(|site| is_from_site(headers, site));
    }
    headers.contains_key(ORIGIN) && !is_from_origin(headers, origin)
}

/// Whether `Sec-Fetch-Site` has this value.
pub(crate) fn is_from_site(headers: &HeaderMap, site: &str) -> bool {
    single_header(headers, FETCH_SITE).is_some_and(|sent| sent == site)
}

/// Whether `Origin` is the origin in use.
pub(crate) fn is_from_origin(headers: &HeaderMap, origin: &Origin) -> bool {
    single_header(headers, ORIGIN).is_some_and(|sent| sent.as_bytes() == origin.url().as_bytes())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::site::Origins;
    use crate::tenants::Host;

    #[test]
    fn change_is_of_another_site_where_the_browser_says_so() {
        const OWN: (&str, &str) = ("origin", "https://acme.example");
        const OTHER: (&str, &str) = ("origin", "https://evil.example");
        let site = |value| (FETCH_SITE, value);
        let is_refused = |method, sent: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(*name, HeaderValue::from_static(value));
            }
            let origins = Origins { trust_forwarded: false, over_tls: true };
            let origin = Origin::of(Host::parse("acme.example"), &headers, origins);
            is_change_of_other_site(&method, &headers, &origin)
        };
        for own in [&[][..], &[OWN], &[site("same-origin"), OTHER], &[site("none")]] {
            assert!(!is_refused(Method::POST, own), "{own:?}");
        }
        for other in [
            &[OTHER][..],
            &[("origin", "null")],
            &[OWN, OWN],
            &[site("cross-site"), OWN],
            &[site("same-site")],
            &[site("")],
            &[site("none"), site("cross-site")],
        ] {
            assert!(is_refused(Method::POST, other), "{other:?}");
            assert!(is_refused(Method::PATCH, other), "{other:?}");
            assert!(!is_refused(Method::GET, other), "{other:?}");
            assert!(!is_refused(Method::HEAD, other), "{other:?}");
        }
    }
}
