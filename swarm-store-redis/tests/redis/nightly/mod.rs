//! Tests of the nightly tier: clusters, sentinels, replicas, lost power, load, memory.

mod cluster;
mod conformance;
mod failover;
mod memory;
mod power;
mod replicas;
mod resharding;
mod sentinel;
mod under_load;
