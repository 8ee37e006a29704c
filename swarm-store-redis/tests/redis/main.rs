//! All tests of the Redis store, in one binary: each binary would be linked by itself.

mod backend;
mod changes;
mod committee;
mod conformance;
mod corrupt;
mod durability;
mod faults;
mod group_commit;
mod layout;
mod load;
mod log_entries;
mod long_snapshots;
mod nightly;
mod one_call;
mod roles;
mod sealed_reads;
mod tls;
mod warnings;
mod world;
mod wrong_types;
