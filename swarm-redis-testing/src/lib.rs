//! Redis for tests and benchmarks: servers and clusters of one's own, a proxy that loses what passes
//! through it, and a clock that is set by hand.
//!
//! Everything here panics when it cannot do what it says: a test that cannot be set up has failed.

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
