//! CORS, conditional requests and compression for public reads (API.md, 6.1).

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW,
    CACHE_CONTROL, CONTENT_ENCODING, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Answer;
use super::accept::quality;
use super::encodings::{Encodings, GZIPPED};

/// Minimum size of a body to compress, in bytes.
const MIN_COMPRESSED: usize = 1_024;

/// The `Cache-Control` of what never changes.
pub(crate) const IMMUTABLE: HeaderValue =
    HeaderValue::from_static("public, max-age=31536000, immutable");

/// What the client has cached, and whether it accepts gzip.
pub(crate) struct Negotiation {
    known: Vec<HeaderValue>,
    since: Option<SystemTime>,
    gzip: bool,
}

impl Negotiation {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let known = headers.get_all(IF_NONE_MATCH).iter().cloned().collect();
        let since = headers.get(IF_MODIFIED_SINCE).and_then(date);
        Self { known, since, gzip: prefers_gzip(headers) }
    }

    /// The negotiation of a client that requests a receipt: it gets the whole answer, uncompressed.
    pub(crate) fn of_receipt() -> Self {
        Self { known: Vec::new(), since: None, gzip: false }
    }

    /// Whether the client accepts a compressed answer.
    pub(crate) fn takes_gzip(&self) -> bool {
        self.gzip
    }

    /// Whether the client's cached copy is this answer. `If-Modified-Since` counts only without
    /// `If-None-Match` (RFC 9110, section 13.2.2), and only if the answer has `Last-Modified`.
    fn has(&self, answer: &Answer, tag: &str) -> bool {
        if !self.known.is_empty() {
            return self.knows(tag);
        }
        let modified = answer.headers.get(LAST_MODIFIED).and_then(date);
        modified.zip(self.since).is_some_and(|(modified, since)| modified <= since)
    }

    /// Whether the client has this ETag, in its plain or compressed form.
    fn knows(&self, tag: &str) -> bool {
        let known = self.known.iter().filter_map(|tags| tags.to_str().ok());
        known.flat_map(|tags| tags.split(',')).map(str::trim).any(|known| {
            let quoted = known.strip_prefix("W/").unwrap_or(known);
            let known_tag = quoted.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"'));
            known == "*"
                || known_tag
                    .is_some_and(|known| known.strip_suffix(GZIPPED).unwrap_or(known) == tag)
        })
    }
}

fn date(header: &HeaderValue) -> Option<SystemTime> {
    httpdate::parse_http_date(header.to_str().ok()?).ok()
}

/// Whether `Accept-Encoding`, in all of its lines, allows gzip and does not prefer the body as it is.
fn prefers_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut identity) = (0.0, 0.0);
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    for coding in lines.flat_map(|line| line.split(',')) {
        let mut parts = coding.split(';');
        let name = parts.next().unwrap_or_default().trim();
        if name.eq_ignore_ascii_case("gzip") {
            gzip = quality(parts);
        } else if name.eq_ignore_ascii_case("identity") {
            identity = quality(parts);
        }
    }
    gzip > 0.0 && gzip >= identity
}

/// Adds the headers for CORS and caches to the answer of a public read, and applies the client's
/// conditions and encodings. Answers to other methods at the same path stay unchanged.
pub(crate) fn make_public(answer: Answer, method: &Method, negotiation: &Negotiation) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return answer;
    }
    let mut answer = shared(answer);
    let Some(encodings) = answer.encodings.clone() else { return answer };
    let compress = negotiation.gzip && answer.body.len() >= MIN_COMPRESSED;
    if compress {
        answer.headers.insert(ETAG, encodings.header(compress));
    }
    if negotiation.has(&answer, encodings.tag()) {
        answer.status = StatusCode::NOT_MODIFIED;
        answer.body = Bytes::new();
    } else if let Some(compressed) = compress.then(|| encodings.gzip(&answer.body)).flatten() {
        answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        answer.body = compressed;
    }
    answer
}

/// Computes the ETag of a public answer, and its compressed form if `gzip`.
pub(crate) fn prepared(answer: Answer, gzip: bool) -> Answer {
    let answer = shared(answer);
    if let Some(encodings) = answer.encodings.as_ref()
        && gzip
        && answer.body.len() >= MIN_COMPRESSED
    {
        let _ = encodings.gzip(&answer.body);
    }
    answer
}

/// Adds the CORS headers, and to a 200 the cache headers and the [`Encodings`]. The result is the same for
/// every client.
fn shared(mut answer: Answer) -> Answer {
    if answer.encodings.is_some() || answer.is_private {
        return answer;
    }
    let value = HeaderValue::from_static;
    allow_any_origin(&mut answer);
    if answer.status != StatusCode::OK {
        return answer;
    }
    // Caches must revalidate before each use, because a take may be superseded at any time.
    if answer.headers.get(CACHE_CONTROL) != Some(&IMMUTABLE) {
        answer.headers.insert(CACHE_CONTROL, value("no-cache"));
    }
    answer.headers.append(VARY, value("Accept-Encoding"));
    let encodings = Encodings::of(&answer.body);
    answer.headers.insert(ETAG, encodings.header(false));
    Answer { encodings: Some(Arc::new(encodings)), ..answer }
}

/// The headers that a program of another origin may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Content-Digest, Content-Disposition, Date, ETag, Link, Location, Retry-After, Signature, Signature-Input, \
     Swarm-Entry, Swarm-Error, Swarm-Hint, Swarm-Request-Digest, Swarm-Seal, WWW-Authenticate, X-Request-Id",
);

/// Lets programs of any origin read the answer.
pub(crate) fn allow_any_origin(answer: &mut Answer) {
    if !answer.headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        answer.headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}

/// The answer to a CORS preflight: `methods` are those that another origin may use at a path.
pub(crate) fn preflight(allow: &HeaderValue, methods: Option<&HeaderValue>) -> Answer {
    let mut answer = Answer::empty(StatusCode::NO_CONTENT);
    answer.headers.insert(ALLOW, allow.clone());
    if let Some(methods) = methods {
        let value = HeaderValue::from_static;
        answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, value("*"));
        answer.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods.clone());
        answer.headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            value(
                "Accept-Signature, Authorization, Cache-Control, Content-Type, If-Modified-Since, \
                 If-None-Match, Last-Event-ID, X-Request-Id",
            ),
        );
        answer.headers.insert(ACCESS_CONTROL_MAX_AGE, value("86400"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_negotiated() {
        let prefers = |lines: &[&'static str]| {
            let lines = lines.iter().map(|line| (ACCEPT_ENCODING, HeaderValue::from_static(line)));
            prefers_gzip(&lines.collect())
        };
        for asked in [
            &["gzip"][..],
            &["br, gzip;q=0.5"],
            &["deflate, GZIP"],
            &["br", "gzip"],
            &["gzip;q=0.5, identity;q=0.5"],
        ] {
            assert!(prefers(asked), "{asked:?}");
        }
        for not in [
            &[][..],
            &[""],
            &["br"],
            &["identity"],
            &["gzip;q=0"],
            &["gzip; Q=0"],
            &["x-gzipped"],
            &["gzip;q=0.5, identity;q=1"],
        ] {
            assert!(!prefers(not), "{not:?}");
        }
    }
}
