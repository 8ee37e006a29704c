//! All tests of the SQLite store, in one binary: each binary would be linked by itself.

mod backend;
mod changes;
mod conformance;
mod layouts;
mod observers;
mod sealed_reads;
