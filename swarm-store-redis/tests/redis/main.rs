//! All tests of the Redis store, in one binary: each binary would be linked by itself.

mod changes;
mod cluster;
mod committee;
mod conformance;
mod corrupt;
mod durability;
mod failover;
mod faults;
mod group_commit;
mod layout;
mod load;
mod log_entries;
mod long_snapshots;
mod memory;
mod one_call;
mod power;
mod replicas;
mod resharding;
mod roles;
mod sentinel;
mod tls;
mod under_load;
mod warnings;
mod world;
mod wrong_types;
