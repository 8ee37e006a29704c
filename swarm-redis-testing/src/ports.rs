//! Free ports.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// A free port whose cluster bus port, 10,000 above it, is free too. Both are below the range from
/// which the system assigns ports, so no other test is given them in between.
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
