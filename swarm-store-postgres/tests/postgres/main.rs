//! All tests of the PostgreSQL store, in one binary: each binary would be linked by itself.

mod backend;
mod conformance;
mod nightly;
mod parts;
mod plans;
mod pool;
mod sealed_reads;
mod views;
mod waiting_commits;
