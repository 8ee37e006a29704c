//! The interface, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test panics, and its modules are its own"
)]

mod binary;
mod browser;
mod clients;
mod harness;
mod journey;
mod lifecycle;
mod mail;
mod schema;
