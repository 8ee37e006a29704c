//! Request ids, to find a request in the logs.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::response::Answer;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The client's `X-Request-Id` if it is 1 to 64 letters, digits, `-`, `_` or `.`; else a new id that is
/// unique in this process and almost certainly among processes.
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(&HEADER).filter(|id| is_plain(id.as_bytes()));
        Self(sent.cloned().unwrap_or_else(generate))
    }

    pub(crate) fn set_header(self, answer: &mut Answer) {
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

/// A random id of this process in 16 hexadecimal digits, a hyphen, and a counter.
fn generate() -> HeaderValue {
    static PROCESS: LazyLock<String> =
        LazyLock::new(|| format!("{:016x}-", RandomState::new().hash_one("process")));
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut text = [0; 16 + 1 + 20];
    let mut rest = text.as_mut_slice();
    let _ = write!(rest, "{}{count}", *PROCESS);
    let unused = rest.len();
    let id = text.get(..text.len() - unused).and_then(|id| HeaderValue::from_bytes(id).ok());
    id.unwrap_or(HeaderValue::from_static("unnamed"))
}
