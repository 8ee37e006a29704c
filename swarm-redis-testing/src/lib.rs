//! Redis for tests and benchmarks: servers and clusters started for one test, a proxy that drops requests and
//! answers, and a clock that is set by hand.
//!
//! Everything here panics when it cannot be set up: a test that cannot be set up has failed.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "it is for tests")]

mod clock;
mod cluster;
mod ports;
mod proxy;
mod server;

pub use clock::{ProgramClock, compiled};
pub use cluster::Cluster;
pub use ports::free_port;
pub use proxy::Proxy;
pub use server::{Server, wait_until};
