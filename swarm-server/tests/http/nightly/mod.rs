//! Tests of the nightly tier that have files of their own: Redis behind the server, moves between stores, followers, and idle
//! tenants.

mod erased_from_postgres;
mod erased_from_redis;
mod faults;
mod followers;
mod idle_tenants;
mod large_bundles;
mod long_logs;
mod lost_redis_connections;
mod measured;
mod moved_store;
mod redis;
mod round_trip;
