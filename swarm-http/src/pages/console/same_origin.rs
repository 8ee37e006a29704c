//! Checks that a form or a navigation comes from a page of the console itself.

use http::HeaderMap;
use http::header::REFERER;

use crate::request::origin::Origin;
use crate::request::same_origin::{FETCH_SITE, is_from_origin, is_from_site};
use crate::tenants::{BasePath, single_header};

/// `Sec-Fetch-Site` must be `same-origin`; where a browser does not send it, `Origin` must be the origin in use.
pub(super) fn is_same_origin(headers: &HeaderMap, origin: &Origin) -> bool {
    match headers.contains_key(FETCH_SITE) {
        true => is_from_site(headers, "same-origin"),
        false => is_from_origin(headers, origin),
    }
}

/// Whether a client shows the answer because a link or form of this origin led to it. No page of another site has
/// such a request, and no image or script of this one. Browsers that do not send `Sec-Fetch-Site` say in `Referer` where
/// the navigation began. A program sends neither: only this site's pages and forms can send it here with the cookie.
pub(super) fn is_own_navigation(headers: &HeaderMap, origin: &Origin, base: &BasePath) -> bool {
    let is = |name: &str, wanted: &str| {
        !headers.contains_key(name)
            || single_header(headers, name).is_some_and(|value| value == wanted)
    };
    if headers.contains_key(FETCH_SITE) {
        return is_from_site(headers, "same-origin")
            && is("sec-fetch-mode", "navigate")
            && is("sec-fetch-dest", "document");
    }
    if !headers.contains_key(REFERER) {
        return true;
    }
    let page = single_header(headers, REFERER).and_then(|page| page.to_str().ok());
    let origin = origin.url();
    page.and_then(|page| page.strip_prefix(&*origin))
        .and_then(|path| base.rest(path))
        .is_some_and(|path| path.starts_with("/operate"))
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
