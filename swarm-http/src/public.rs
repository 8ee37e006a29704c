//! What the public may read, it may read from anywhere, and keep while it is fresh (contract,
//! section 5).

use sha2::{Digest, Sha256};
use warp::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, ETAG,
    IF_NONE_MATCH,
};
use warp::http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::reply::Answer;

/// What the client has already.
pub(crate) struct Condition(Option<HeaderValue>);

impl Condition {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(headers.get(IF_NONE_MATCH).cloned())
    }

    fn holds(&self, tag: &str) -> bool {
        let sent = self.0.as_ref().and_then(|tags| tags.to_str().ok()).unwrap_or_default();
        sent.split(',')
            .map(str::trim)
            .any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == tag)
    }
}

/// Opens the answer of a public read to other origins and to caches. Other methods at the same
/// path stay as they are.
pub(crate) fn share(mut answer: Answer, method: &Method, condition: &Condition) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return answer;
    }
    let any = HeaderValue::from_static("*");
    answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    let exposed = HeaderValue::from_static("ETag, X-Request-Id");
    answer.headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    if answer.status != StatusCode::OK {
        return answer;
    }
    // Whoever keeps an answer asks again before it uses it: a take may be superseded any time.
    answer.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let tag = tag(&answer.text);
    if condition.holds(&tag) {
        answer.status = StatusCode::NOT_MODIFIED;
        answer.text.clear();
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.headers.insert(ETAG, tag);
    }
    answer
}

fn tag(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// What may be done at a path, for a browser that asks on behalf of another origin.
pub(crate) fn preflight(allow: &HeaderValue, shared: bool) -> Answer {
    let mut answer = Answer::empty(StatusCode::NO_CONTENT);
    answer.headers.insert(ALLOW, allow.clone());
    if shared {
        let value = HeaderValue::from_static;
        answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, value("*"));
        answer.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, value("GET, HEAD"));
        answer.headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, value("If-None-Match, X-Request-Id"));
        answer.headers.insert(ACCESS_CONTROL_MAX_AGE, value("86400"));
    }
    answer
}
