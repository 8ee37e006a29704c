//! Ports that nobody listens at.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// A port that nobody listens at; nor at the one 10,000 above, where nodes of a cluster meet. Both
/// are below those that a system gives to who asks for any: no other test comes in between.
pub fn free_port() -> u16 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    loop {
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        let spread = std::process::id().wrapping_mul(131).wrapping_add(asked) % 12_000;
        let port = 10_000 + u16::try_from(spread).unwrap();
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
}
