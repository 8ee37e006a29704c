//! Filing in memory: load, judge, commit, on one thread and on two.
//!
//! Signing and setup are not measured. A fixture is replaced after an author has filed [`SESSIONS`] takes in
//! it, so that nothing grows.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use swarm_benches::{Fixture, SESSIONS, SignedTakes, group};
use swarm_store_memory::MemoryStore;

criterion_group! {
    name = filing;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .sample_size(20);
    targets = one_thread, two_threads, reading
}
criterion_main!(filing);

fn one_thread(c: &mut Criterion) {
    let mut group = group(
        c,
        "file",
        "submit() (load, judge, commit) against judge() alone on facts loaded before",
    );
    let signed = SignedTakes::new(1);
    group.bench_function("submit", |b| {
        b.iter_custom(|iters| {
            in_rounds(iters, |count| {
                let fixture = signed.fixture();
                timed(|| signed.file(&fixture, count)).length()
            })
        });
    });
    let facts = signed.facts();
    group.bench_function("judge alone", |b| {
        b.iter_custom(|iters| {
            in_rounds(iters, |count| timed(|| signed.judge(&facts, count)).length())
        })
    });
}

fn two_threads(c: &mut Criterion) {
    let mut group = group(
        c,
        "two threads",
        "two threads, each filing one take, against one thread filing one (the same time is \
         perfect), and against two threads that judge and share nothing (what the machine gives)",
    );
    let (a, b) = (SignedTakes::new(1), SignedTakes::new(2));
    group.throughput(Throughput::Elements(1)).bench_function("1 thread", |bench| {
        bench.iter_custom(|iters| {
            in_rounds(iters, |count| {
                let fixture = a.fixture();
                timed(|| a.file(&fixture, count)).length()
            })
        });
    });
    group.throughput(Throughput::Elements(2));
    group.bench_function("2 threads, one tenant", |bench| {
        bench.iter_custom(|iters| {
            in_rounds(iters, |count| {
                let fixture = Fixture::new(&[&a.author, &b.author]);
                together(|| a.file(&fixture, count), || b.file(&fixture, count))
            })
        });
    });
    group.bench_function("2 threads, two tenants", |bench| {
        bench.iter_custom(|iters| {
            in_rounds(iters, |count| {
                let store = MemoryStore::new();
                let one = Fixture::in_store(&store, "one", &[&a.author]);
                let two = Fixture::in_store(&store, "two", &[&b.author]);
                together(|| a.file(&one, count), || b.file(&two, count))
            })
        });
    });
    let (of_a, of_b) = (a.facts(), b.facts());
    group.bench_function("2 threads, judge alone", |bench| {
        bench.iter_custom(|iters| {
            in_rounds(iters, |count| together(|| a.judge(&of_a, count), || b.judge(&of_b, count)))
        });
    });
}

fn reading(c: &mut Criterion) {
    let mut group = group(
        c,
        "basis",
        "loading the facts alone, beside a thread that files in the same tenant, and beside one \
         that only judges (what the machine gives)",
    );
    let (reader, other) = (SignedTakes::new(1), SignedTakes::new(2));
    let fixtures = || Fixture::new(&[&reader.author, &other.author]);
    let facts = other.facts();
    let fixture = fixtures();
    let mut takes = reader.takes.iter().cycle();
    group.bench_function("alone", |b| {
        b.iter(|| fixture.basis(&reader.author, takes.next().expect("a cycle has no end")))
    });
    group.bench_function("beside a writer", |b| {
        b.iter_custom(|iters| {
            reads_beside(iters, &reader, fixtures, |fixture| other.file(fixture, SESSIONS))
        });
    });
    group.bench_function("beside a judge", |b| {
        b.iter_custom(|iters| {
            reads_beside(iters, &reader, fixtures, |_| other.judge(&facts, SESSIONS))
        });
    });
}

/// Measures `iterations` in rounds of at most [`SESSIONS`].
fn in_rounds(iters: u64, mut round: impl FnMut(usize) -> Duration) -> Duration {
    let mut left = usize::try_from(iters).expect("fewer than memory has places");
    let mut total = Duration::ZERO;
    while left > 0 {
        let count = left.min(SESSIONS);
        total += round(count);
        left -= count;
    }
    total
}

/// The start and end of a measurement.
struct Span(Instant, Instant);

impl Span {
    fn length(&self) -> Duration {
        self.1 - self.0
    }
}

fn timed(work: impl FnOnce()) -> Span {
    let start = Instant::now();
    work();
    Span(start, Instant::now())
}

/// Runs both at the same time: from the first start to the last end.
fn together(a: impl FnOnce() + Send, b: impl FnOnce()) -> Duration {
    let ready = Barrier::new(2);
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| {
            ready.wait();
            timed(a)
        });
        ready.wait();
        (timed(b), there.join().expect("no panic"))
    });
    here.1.max(there.1) - here.0.min(there.0)
}

/// The time of reads beside a thread that works in the same fixture.
fn reads_beside(
    iters: u64,
    reader: &SignedTakes,
    fixtures: impl Fn() -> Fixture,
    work: impl Fn(&Fixture) + Sync,
) -> Duration {
    let (mut spent, mut reads) = (Duration::ZERO, 0_u64);
    let mut takes = reader.takes.iter().cycle();
    while reads < iters {
        let fixture = fixtures();
        let (ready, working) = (Barrier::new(2), AtomicBool::new(true));
        thread::scope(|scope| {
            scope.spawn(|| {
                ready.wait();
                work(&fixture);
                working.store(false, Ordering::Release);
            });
            ready.wait();
            let reading = timed(|| {
                while working.load(Ordering::Acquire) {
                    let take = takes.next().expect("a cycle has no end");
                    black_box(fixture.basis(&reader.author, take));
                    reads += 1;
                }
            });
            spent += reading.length();
        });
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let share = iters as f64 / reads as f64;
    spent.mul_f64(share)
}
