//! The rules against vectors: those of this repository (`vectors/`, made by Node.js, the oracle of
//! canonical text and signatures) and those that other projects have published.
//!
//! The sets of other projects are not part of the repository; [`files`] says where they are looked
//! for, and what happens when they are not there.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says no by panicking"
)]

mod applications;
mod drafts;
mod ed25519;
mod files;
mod jcs;
mod json_suite;
mod ledger;
mod numbers;
mod proofs;
mod properties;
mod public_keys;
mod strings;
mod summary;
mod takes_edge;
mod takes_invalid;
mod takes_valid;
