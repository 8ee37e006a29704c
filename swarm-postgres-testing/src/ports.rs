//! Free ports.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// A free port. It is below the range from which the system assigns ports, so that a server gets it again when it is
/// restarted, and below the ports of the Redis servers of other tests.
pub(crate) fn free_port() -> u16 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    loop {
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let spread = std::process::id().wrapping_mul(131).wrapping_add(asked) % 5_000;
        let port = 5_000 + u16::try_from(spread).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
