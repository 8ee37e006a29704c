//! Tests with vectors: those of this repository (`vectors/`, made by Node.js as an independent
//! oracle of canonical text and signatures), and those that other projects have published.
//!
//! The sets of other projects are not part of the repository. [`files`] explains where they are
//! expected, and what happens without them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing test panics"
)]

mod applications;
mod drafts;
mod ed25519;
pub(crate) mod files;
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
