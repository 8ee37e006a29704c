//! Takes a second into a store, of authors that file at the same time.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::sync::Arc;
use std::time::Instant;
use swarm_core::store::Store;

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::{Fixture, SESSIONS, SignedTakes};

/// Has authors file at the same time in a tenant of their own, each one take after another. Signing and setup are
/// not measured.
///
/// # Panics
/// When a take is refused.
pub fn takes_a_second(runtime: &Runtime, store: &Store, authors: u8) -> f64 {
    let signed_takes: Vec<_> =
        (1..=authors).map(|number| Arc::new(SignedTakes::new(number))).collect();
    let members: Vec<_> = signed_takes.iter().map(|signed| &signed.author).collect();
    let tenant = format!("of-{authors}");
    let fixture = Arc::new(runtime.block_on(Fixture::set_up(store, &tenant, &members)));
    let start = Instant::now();
    runtime.block_on(async {
        let mut filing = JoinSet::new();
        for signed in &signed_takes {
            filing.spawn(file_all(Arc::clone(signed), Arc::clone(&fixture)));
        }
        filing.join_all().await;
    });
    f64::from(authors) * SESSIONS as f64 / start.elapsed().as_secs_f64()
}

async fn file_all(signed: Arc<SignedTakes>, fixture: Arc<Fixture>) {
    for take in &signed.takes {
        fixture.submit(&signed.author, take).await;
    }
}
