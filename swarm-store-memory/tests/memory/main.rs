//! All tests of the memory store but those of spans, in one binary: each binary would be linked by itself.

mod aggregation;
mod backend;
mod blind_sessions;
mod cached_races;
mod clock;
mod committee_days;
mod conformance;
mod delivery;
mod dumps;
mod embedding;
mod following;
mod hooks;
mod log_entries;
mod mutants;
mod removed_tenants;
mod schedule;
mod signed_log;
mod simulation;
mod tiles;
mod witnesses;
