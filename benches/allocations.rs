//! Allocations per accepted take: read, judged, and filed in memory.
#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

use std::hint::black_box;

use allocation_counter::measure;
use swarm_benches::{Author, Fixture, SESSIONS, USUAL};
use swarm_core::Submission;
use swarm_core::domain::{Signed, TakeDraft};
use swarm_core::proof::canonical;

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

fn body(signed: &Signed<TakeDraft>) -> String {
    let canonical = canonical(&signed.payload);
    let fields = canonical.strip_suffix('}').expect("an object");
    format!("{fields},\"signature\":\"{}\"}}", signed.signature.as_str())
}
