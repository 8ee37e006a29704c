//! The ways in which callers show who they are: each a header, with what the reference says of it.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use swarm_core::wire::Problem;

use crate::tenants::{ADMIN_TOKEN, single_header};

/// A way in which callers show who they are.
pub(crate) struct Scheme {
    /// The name in the description.
    pub(crate) name: &'static str,
    /// What is sent, as the pages of the reference name it.
    #[cfg_attr(not(feature = "pages"), expect(dead_code, reason = "only pages name it"))]
    pub(crate) sent: &'static str,
    /// The error of a request without it.
    pub(crate) problem: Problem,
    /// The hint for a request without it. It quotes nothing, because a token in a wrong form is a secret all the same.
    pub(super) hint: fn(&HeaderMap) -> Option<String>,
}

/// The bearer token of a member (API.md, 4.4).
pub(super) const BEARER: Scheme = Scheme {
    name: "member",
    sent: "Authorization: Bearer",
    problem: Problem::MissingBearer,
    hint: |headers| Some(bearer_hint(headers)),
};

/// The token of an operator (API.md, 7.1).
pub(super) const OPERATOR: Scheme = Scheme {
    name: "operator",
    sent: "X-Admin-Token",
    problem: Problem::AdminToken,
    hint: |headers| {
        let place = "X-Admin-Token: must be the token of an operator";
        let sent = single_header(headers, ADMIN_TOKEN).map(HeaderValue::as_bytes);
        let fault = absence(headers, ADMIN_TOKEN);
        let fault = fault.or_else(|| surplus(sent?, "has the word Bearer before the token"));
        fault.map(|fault| format!("{place}, {fault}"))
    },
};

/// What a token has besides itself, because of how it was copied or read from a file. `bearer` is what is wrong if it begins with
/// that word.
pub(super) fn surplus(token: &[u8], bearer: &'static str) -> Option<&'static str> {
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\'' | b'<' | b'>' | b'`'));
    if token.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"bearer ")) {
        return Some(bearer);
    }
    if token.iter().any(|byte| !matches!(byte, b' '..=b'~')) {
        return Some(
            "has a character outside ASCII, perhaps an invisible one (a byte order mark, a no-break space)",
        );
    }
    if is_quote(token.first()) || is_quote(token.last()) {
        return Some("has quotes around the token");
    }
    token.contains(&b' ').then_some("has a space in the token")
}

/// Why a header that is sent once is not there.
pub(super) fn absence(headers: &HeaderMap, name: &str) -> Option<&'static str> {
    match headers.get_all(name).iter().count() {
        0 if headers.contains_key(AUTHORIZATION) => {
            Some("is missing: Authorization is not read here")
        }
        0 => Some("is missing"),
        1 => None,
        _ => Some("is sent more than once"),
    }
}

fn bearer_hint(headers: &HeaderMap) -> String {
    let mut sent = headers.get_all(AUTHORIZATION).iter().map(HeaderValue::as_bytes);
    let fault = match (sent.next(), sent.next()) {
        (None, _) => "is missing",
        (Some(_), Some(_)) => "is sent more than once",
        (Some(value), None) if value.trim_ascii().is_empty() => "is empty",
        (Some(value), None) if value.trim_ascii().eq_ignore_ascii_case(b"bearer") => {
            "has no token after Bearer"
        }
        (Some(value), None) if value.trim_ascii().contains(&b' ') => {
            "has another scheme than Bearer"
        }
        (Some(_), None) => "does not begin with the word Bearer and a space",
    };
    format!("Authorization: must be Bearer <token>, {fault}")
}

/// The token of the one `Authorization` header.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, token) = single_header(headers, AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}
