//! Allocations per accepted take: read, judged, and filed in memory; and of reads of a sealed session.
#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

use std::hint::black_box;

use allocation_counter::measure;
use swarm_benches::{Author, Fixture, SESSIONS, USUAL};
use swarm_core::Submission;
use swarm_core::domain::{Signed, TakeDraft};
use swarm_core::proof::canonical;
use swarm_store_memory::MemoryStore;
use swarm_testing::SealedDesk;
use tokio::runtime::Builder;

/// A third is retained: the take, its row and the keys of its indexes. The others are the queries and the transaction, which
/// are values of their own, since a backend may send them to a server.
const MAX_ALLOCATIONS: u64 = 90;

/// Reallocations of growing tables count too.
#[test]
fn accepted_take_allocates_at_most_90_times() {
    let author = Author::new(1);
    let fixture = Fixture::new(&[&author]);
    let bodies: Vec<String> =
        (0..SESSIONS).map(|session| body(&author.signed(session, USUAL))).collect();
    let mut file = |body: &String| {
        let counted = measure(|| {
            let take = Submission::from_json(body.as_bytes()).expect("a submission");
            black_box(fixture.file(&author, &take));
        });
        counted.count_total
    };
    let counts: Vec<u64> = bodies.iter().map(&mut file).collect();
    let (sum, takes) = (counts.iter().sum::<u64>(), counts.len() as u64);
    println!("{sum} allocations for {takes} takes: {counts:?}");
    assert!(sum <= MAX_ALLOCATIONS * takes, "{sum} allocations for {takes} takes: {counts:?}");
}

/// What is sealed is neither written nor hashed.
#[test]
fn reads_of_a_sealed_session_allocate_as_much_whatever_is_sealed() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let store = MemoryStore::default();
    let filed =
        |tenant, is_large| runtime.block_on(SealedDesk::filed(store.clone(), tenant, is_large));
    let (small, large) = (filed("small", false), filed("large", true));
    let read = |desk: &SealedDesk, name| {
        // What is kept from the first read on is not counted.
        runtime.block_on(desk.read(name));
        let counted = measure(|| runtime.block_on(desk.read(name)));
        (counted.count_total, counted.bytes_total)
    };
    for name in SealedDesk::READS {
        assert_eq!(read(&large, name), read(&small, name), "{name}");
    }
}

fn body(signed: &Signed<TakeDraft>) -> String {
    let canonical = canonical(&signed.payload);
    let fields = canonical.strip_suffix('}').expect("an object");
    format!("{fields},\"signature\":\"{}\"}}", signed.signature.as_str())
}
