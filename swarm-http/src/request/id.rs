//! A name for each request, to find it again in the logs.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use warp::http::{HeaderMap, HeaderName, HeaderValue};

use crate::response::Answer;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The client's own `X-Request-Id` where it is 1 to 64 letters, digits, `-`, `_` or `.`; else one
/// that is unique in this process and, very likely, among processes.
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(&HEADER).filter(|id| is_plain(id.as_bytes()));
        Self(sent.cloned().unwrap_or_else(fresh))
    }

    pub(crate) fn stamp(self, answer: &mut Answer) {
        answer.headers.insert(HEADER, self.0);
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

fn is_plain(id: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=64).contains(&id.len()) && id.iter().all(plain)
}

fn fresh() -> HeaderValue {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("process"));
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:016x}-{count}", *PROCESS);
    HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("unnamed"))
}
