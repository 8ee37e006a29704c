//! Concurrent tasks for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Barrier;

/// Starts all tasks at the same time; returns their results in order.
pub async fn race<F>(racers: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let racers: Vec<F> = racers.into_iter().collect();
    let start = Arc::new(Barrier::new(racers.len()));
    let run = |racer: F| {
        let start = Arc::clone(&start);
        tokio::spawn(async move {
            start.wait().await;
            racer.await
        })
    };
    let running: Vec<_> = racers.into_iter().map(run).collect();
    let mut results = Vec::new();
    for racer in running {
        results.push(racer.await.unwrap());
    }
    results
}

/// The number of times that `wanted` is in `results`.
pub fn count<T: PartialEq>(results: &[T], wanted: &T) -> usize {
    results.iter().filter(|result| *result == wanted).count()
}

/// A number that is unique within this process.
pub fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
