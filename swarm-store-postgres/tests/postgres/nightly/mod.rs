//! Tests of the nightly tier: several processes, PgBouncer in between, outages, and servers with other settings.

mod outages;
mod pgbouncer;
mod settings;
mod several_processes;
