//! A time-stamping authority, which speaks RFC 3161 over HTTP.

use std::time::Duration;

use crate::connection::Client;
use crate::error::{Error, InvalidUrl};

/// The longest time for one request, from connecting to the end of the answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The largest answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 32 << 10;

/// A time-stamping authority, at its URL.
#[derive(Clone, Debug)]
pub struct TimestampClient(Client);

impl TimestampClient {
    /// The authority at `url`, such as `https://tsa.example/tsr`. It sends nothing yet.
    ///
    /// # Errors
    /// [`InvalidUrl`] unless it is an `http` or `https` URL.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Client::posting_to(url, TIMEOUT).map(Self)
    }

    /// Sends a `TimeStampReq` once, for at most 20 s, and returns status and body of the answer.
    ///
    /// # Errors
    /// [`Error::NoAnswer`]; [`Error::Unreadable`] for an answer over 32 KiB.
    pub fn request(&self, request: &[u8]) -> Result<(u16, Vec<u8>), Error> {
        self.0.post_bytes("application/timestamp-query", request, MAX_ANSWER_BYTES)
    }
}
