//! Tests of both interfaces and of the binary, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test panics, and its modules are its own"
)]

mod acts;
mod answer_cache;
mod backend;
mod binary;
mod blind;
mod browser;
mod build_info;
mod bulk_reads;
mod bundles;
mod clients;
mod clock;
mod command_credentials;
mod commands;
mod committee;
mod committee_fixture;
mod console;
mod deploy;
mod desk;
mod desk_week;
mod diagnosis;
mod edited_stores;
mod end_to_end;
mod fairness;
mod fixture;
mod generated_clients;
mod guide;
mod harness;
mod hints;
mod histories;
mod hostile;
mod hostile_service;
mod index_files;
mod large_bodies;
mod lifecycle;
mod list_filters;
mod list_links;
mod load;
mod log;
mod mail;
mod many_connections;
mod member_pages;
mod member_standing;
mod memory;
mod mounted;
mod nightly;
mod observability;
mod observed_store;
mod openapi;
mod operating;
mod operating_commands;
mod operator_routes;
mod page_texts;
mod pages;
mod paging;
mod postgres;
mod problem_details;
mod program;
mod proofs;
mod proxies;
mod quotas;
mod races;
mod raw_http;
mod receipts;
mod refusals;
mod routes;
mod rust_client;
mod schedule;
mod schema;
mod scripted_service;
mod secrets;
mod session_bundles;
mod sqlite;
mod start_options;
mod tenant_configuration;
mod tenants;
mod tls;
mod transfer;
mod unread_log;
mod vector_files;
mod vectors;
mod verification;
mod went_back;
mod witnesses;
mod worst_neighbours;
mod wrong_clocks;
mod wrong_tokens;
