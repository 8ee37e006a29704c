//! What a client may hold on to, and for how long.

use std::time::Duration;

/// The bounds of [`serve`](crate::serve). Values outside of their range are moved to its nearest end.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most connections at a time, at least 1. A new one closes the connection that has waited
    /// longest for its client (to send a request, or the rest of one, or to read its answer); while
    /// none is waiting, the new one waits. Default 4096, which must stay below the number of files
    /// that the process may open.
    pub connections: usize,
    /// The most connections of one address at a time, at least 1; `None`: as many as there may be
    /// at all. For IPv6, those of one network of 64 bits. A new one closes the client's own
    /// connection that has waited longest. Default 512; use `None` behind a proxy, where all
    /// clients have its address. Then connections are not scheduled by address; a
    /// [`Site`](swarm_http::Site) that trusts the proxy schedules requests by the forwarded one.
    pub connections_per_address: Option<usize>,
    /// Bytes of one request head, and of chunked trailers, 1 KiB to 1 MiB; more is a 431. 32 KiB.
    pub header_bytes: usize,
    /// From the end of one answer, or the accept, to the end of the next request head: an idle
    /// connection is closed as well as a half-sent head. At most a day; 10 s.
    pub header_deadline: Duration,
    /// The longest that a write may make no progress. At most a day; 10 s.
    pub write_deadline: Duration,
    /// The bytes a second at which answers have to be read: so much adds a second, up to
    /// `write_deadline`, to how long writes may wait. At least 1; 16 KiB.
    pub write_rate: usize,
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
            connections: 4096,
            connections_per_address: Some(512),
            header_bytes: 32 << 10,
            header_deadline: Duration::from_secs(10),
            write_deadline: Duration::from_secs(10),
            write_rate: 16 << 10,
            linger: Duration::from_secs(2),
            linger_bytes: 8 << 20,
            drain: Duration::from_secs(10),
        }
    }
}

impl Limits {
    pub(crate) fn in_range(self) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self {
            connections: self.connections.max(1),
            connections_per_address: self.connections_per_address.map(|most| most.max(1)),
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
