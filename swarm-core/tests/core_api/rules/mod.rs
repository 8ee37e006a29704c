//! Unit tests of the rules, without a store.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod analysis;
mod challenges;
mod erasure;
mod log;
mod mail;
mod members;
mod refusals;
mod sessions;
mod takes;

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{Actor, Attribution, Note, Version};
use swarm_core::rules::{Act, Versioned};
use swarm_testing::moment;

/// The version of all judged records.
const JUDGED: Version = Version(3);

fn versioned<T>(record: T) -> Versioned<T> {
    Versioned { version: JUDGED, record: Arc::new(record) }
}

fn now() -> Timestamp {
    moment("2026-11-21T12:00:00Z")
}

/// The text of an entry that is known before the commit.
fn entry_text(act: &Act) -> String {
    act.known().unwrap().to_text()
}

/// The operator, with a note.
fn operator() -> Attribution {
    Attribution { by: Actor::OPERATOR, note: Some(Note::parse("why").unwrap()) }
}
