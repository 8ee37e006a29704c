//! What a client may hold on to, and for how long.

use std::time::Duration;

/// The bounds of [`serve`](super::serve). Values outside of their range are moved to its nearest end.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections served at a time, at least 1; more wait in the listener's backlog. 1024.
    pub connections: usize,
    /// Bytes of one request head, and of chunked trailers, 1 KiB to 1 MiB; more is a 431. 32 KiB.
    pub header_bytes: usize,
    /// From the end of one answer, or the accept, to the end of the next request head: an idle
    /// connection is closed as well as a half-sent head. At most a day; 10 s.
    pub header_deadline: Duration,
    /// The longest that a write may make no progress. At most a day; 10 s.
    pub write_deadline: Duration,
    /// How long a connection that we close is still read, so that a client which is sending gets
    /// its answer rather than a reset. At most a day; 2 s.
    pub linger: Duration,
    /// The bytes that are read and thrown away in that time. 8 MiB.
    pub linger_bytes: usize,
    /// How long the connections may take to finish after `stop`. At most a day; 10 s.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            header_bytes: 32 << 10,
            header_deadline: Duration::from_secs(10),
            write_deadline: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            linger_bytes: 8 << 20,
            drain: Duration::from_secs(10),
        }
    }
}

impl Limits {
    pub(super) fn in_range(self) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self {
            connections: self.connections.max(1),
            header_bytes: self.header_bytes.clamp(1 << 10, 1 << 20),
            header_deadline: self.header_deadline.min(day),
            write_deadline: self.write_deadline.min(day),
            linger: self.linger.min(day),
            linger_bytes: self.linger_bytes,
            drain: self.drain.min(day),
        }
    }
}
