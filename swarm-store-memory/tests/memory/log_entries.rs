//! The exact texts of log entries, compared with the recorded ones (`vectors/log`).
#![allow(clippy::unwrap_used, reason = "a test panics")]

use swarm_core::domain::Seq;
use swarm_core::service::LogQuery;
use swarm_core::{Swarm, SystemEntropy, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::{ManualClock, log_scenario, moment};

const RECORDED: &str = include_str!("../../../vectors/log/entries.jsonl");

#[tokio::test]
async fn entries_have_the_recorded_texts() {
    let clock = ManualClock::at(moment("2026-11-21T12:00:00Z"));
    let time = clock.clone();
    let store = MemoryStore::with_clock(move || time.now());
    log_scenario(store.clone().into(), || clock.advance(1_001)).await;
    let tenant = Swarm::new(store, SystemEntropy).tenant(&TenantId::parse("acme").unwrap());
    let page = tenant.log(&LogQuery::all(Seq(0), 1_000)).await.unwrap();
    let texts: Vec<_> = page.lines().map(|line| line.text()).collect();
    assert_eq!(texts, RECORDED.lines().collect::<Vec<_>>());
}
