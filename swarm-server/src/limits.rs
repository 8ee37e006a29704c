//! Limits on connections, heads, and times.

use std::time::Duration;

/// The limits of [`serve`](crate::serve): the [default](Self::default), with some fields set. Values outside of their range are
/// clamped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of connections, at least 1. At the limit, a new one closes the connection that
    /// has been waiting longest for its client (to send a request, or the rest of one, or to read its
    /// answer); while none is waiting, the new one waits. Must stay below the number of files that the
    /// process may open. Default: 4096.
    pub connections: usize,
    /// Maximum number of connections per client address, at least 1; for IPv6, per /64 network. At the
    /// limit, a new one closes the client's own longest-waiting connection. `None` is for use behind a
    /// proxy, where all clients have the proxy's address: no limit per address, and no scheduling by
    /// address; a [`Site`](swarm_http::Site) that trusts the proxy schedules requests by the forwarded
    /// address. Default: 512.
    pub connections_per_address: Option<usize>,
    /// Maximum size of a request head, and of chunked trailers, in bytes, 1 KiB to 1 MiB; beyond it,
    /// 431. Default: 32 KiB.
    pub header_bytes: usize,
    /// Maximum time from the accept, or the end of an answer, to the end of the next request head.
    /// Closes idle connections as well as incomplete heads. At most a day. Default: 10 s.
    pub header_deadline: Duration,
    /// Maximum time that a write may make no progress. At most a day. Default: 10 s.
    pub write_deadline: Duration,
    /// Minimum rate at which answers have to be read, in bytes per second, at least 1: each
    /// `write_rate` bytes written add a second to the time that writes may wait, up to
    /// `write_deadline`. Default: 16 KiB/s.
    pub write_rate: usize,
    /// Time for which a connection that the server closes is still read, so that a client that is
    /// sending gets its answer rather than a reset. At most a day. Default: 2 s.
    pub linger: Duration,
    /// Maximum number of bytes that are read and discarded in that time. Default: 8 MiB.
    pub linger_bytes: usize,
    /// Time for connections to finish after `stop`. At most a day. Default: 8 s, less than the 10 s after which
    /// container platforms kill a process.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: Some(512),
            header_bytes: 32 << 10,
            header_deadline: Duration::from_secs(10),
            write_deadline: Duration::from_secs(10),
            write_rate: 16 << 10,
            linger: Duration::from_secs(2),
            linger_bytes: 8 << 20,
            drain: Duration::from_secs(8),
        }
    }
}

impl Limits {
    pub(crate) fn in_range(self) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self {
            connections: self.connections.max(1),
            connections_per_address: self.connections_per_address.map(|max| max.max(1)),
            header_bytes: self.header_bytes.clamp(1 << 10, 1 << 20),
            header_deadline: self.header_deadline.min(day),
            write_deadline: self.write_deadline.min(day),
            write_rate: self.write_rate.max(1),
            linger: self.linger.min(day),
            linger_bytes: self.linger_bytes,
            drain: self.drain.min(day),
        }
    }
}
