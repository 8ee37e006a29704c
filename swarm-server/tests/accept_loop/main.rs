//! The accept loop of `swarm-server` over real sockets. A test binary of its own, since it measures its memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test panics")]
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]
#![allow(unreachable_pub, reason = "its modules are its own")]

mod bodies;
mod client;
mod connection_limits;
mod connections;
mod fair_scheduling;
mod requests;
mod server;

use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(10);
const BODY_LIMIT: usize = 64 << 10;
const MIB: usize = 1 << 20;
