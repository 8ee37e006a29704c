//! The shell's behaviour, seen from real sockets. A program of its own, since it measures its memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test panics")]
#![allow(clippy::disallowed_methods, reason = "deadlines are measured from outside")]
#![allow(unreachable_pub, reason = "its modules are its own")]

mod bodies;
mod bounds;
mod client;
mod connections;
mod requests;
mod server;
mod turns;

use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(10);
const BODY_LIMIT: usize = 64 << 10;
const MIB: usize = 1 << 20;
