//! A long snapshot.

use std::sync::Arc;

use swarm_core::Session;
use swarm_core::domain::SessionState::Aggregated;
use swarm_core::domain::Snapshot;
use swarm_testing::{figures, quote};

/// Aggregates a session. Its snapshot has almost 1 MiB, and takes are not needed for it.
pub(crate) fn aggregate(session: &mut Session) {
    aggregate_with(session, 100);
}

/// The same with as many quotes, of 10 kB each.
pub(crate) fn aggregate_with(session: &mut Session, quotes: usize) {
    let body = "\u{fc}".repeat(4_900);
    let quote = |number| quote(&format!("member {number}"), &format!("{body}{number}"));
    let quotes = (0..quotes).map(quote).collect();
    session.state = Aggregated;
    session.snapshot =
        Some(Arc::new(Snapshot { figures: figures(), weights: None, quotes, original: None }));
}
