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
mod committee_fixture;
mod configured;
mod crowds;
mod cuts;
mod described;
mod door;
mod faults;
mod files;
mod fixture;
mod guide;
mod harness;
mod hostile;
mod insight;
mod journey;
mod kept;
mod lifecycle;
mod load;
mod log;
mod mail;
mod member_pages;
mod memory;
mod mounted;
mod observed_store;
mod pages;
mod paging;
mod quotas;
mod races;
mod raw;
mod redis;
mod refusals;
mod routes;
mod rust_client;
mod schema;
mod secrets;
mod sqlite;
mod tenants;
mod unread_log;
mod vectors;
mod verification;
