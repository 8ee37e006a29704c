//! The interface, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test panics, and its modules are its own"
)]

mod backend;
mod binary;
mod browser;
mod bulk;
mod clients;
mod clock;
mod clocks;
mod committee;
mod cuts;
mod desk;
mod faults;
mod files;
mod harness;
mod hostile;
mod journey;
mod lifecycle;
mod load;
mod mail;
mod races;
mod raw;
mod redis;
mod refusals;
mod relay;
mod routes;
mod schema;
mod secrets;
mod tenants;
mod vectors;
mod verification;
mod world;
