//! A simulation by seed: members, operators and an applicant work concurrently on a store whose calls to its backend are
//! delayed, lost or duplicated, whose answers get lost, and whose clock jumps. At the end the answers are
//! compared with the records, and the log alone must show that each take was filed by the rules
//! ([`replay`]).
//!
//! `cargo test -p swarm-store-memory --test memory simulation` runs some hundred schedules.
//! `SWARM_SCHEDULES=0..1000000` chooses others, and a failure names its seed: `SWARM_SCHEDULES=17..18`
//! runs that one again, step by step the same.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that fails panics"
)]

mod answers;
mod chaos;
mod desk;
mod planted;
mod replay;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use swarm_core::Store;
use swarm_store_memory::MemoryStore;

use chaos::Chaos;
use desk::{Desk, Tally};

/// The default schedules.
const USUAL: Range<u64> = 0..400;

#[test]
fn the_promises_hold_amid_chaos() {
    let chosen = chosen();
    let next = AtomicU64::new(chosen.start);
    let some_of_them = || {
        let mut happened = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= chosen.end {
                return happened;
            }
            match schedule(seed, |store| store) {
                Ok(tally) => happened += tally,
                Err(broken) => panic!("schedule {seed}: {broken}"),
            }
        }
    };
    let mut all = Tally::default();
    thread::scope(|scope| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(some_of_them)).collect();
        for thread in threads {
            all += thread.join().expect("every schedule kept the promises");
        }
    });
    println!("{all:?}");
    assert!(all.is_eventful(), "hardly anything happened: {all:?}");
}

/// Runs one schedule on a store that `plant` may change; returns the events, or the broken promise.
fn schedule(seed: u64, plant: impl FnOnce(Store) -> Store) -> Result<Tally, String> {
    let _named = NamedIfItPanics(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let chaos = Arc::new(Chaos::of(seed));
        let clock = chaos.clock().clone();
        let store = MemoryStore::with_clock(move || clock.now());
        let store = plant(store.into()).intercepted(Arc::clone(&chaos));
        let desk = Desk::open(store, Arc::clone(&chaos)).await;
        chaos.begin();
        desk.work().await;
        chaos.end();
        desk.look_back().await
    })
}

/// Names the schedule when it panics.
struct NamedIfItPanics(u64);

impl Drop for NamedIfItPanics {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("it was schedule {}", self.0);
        }
    }
}

fn chosen() -> Range<u64> {
    let Ok(chosen) = std::env::var("SWARM_SCHEDULES") else { return USUAL };
    let (from, to) = chosen.split_once("..").expect("SWARM_SCHEDULES is like 0..1000");
    from.parse().expect("a number")..to.parse().expect("a number")
}
