//! Concurrent tasks for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Barrier;

use swarm_core::service::{Entropy, NoEntropy};

/// Lets all racers start at once; their results, in the order of the racers.
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

/// How often `wanted` is among `results`.
pub fn count<T: PartialEq>(results: &[T], wanted: &T) -> usize {
    results.iter().filter(|result| *result == wanted).count()
}

/// A number that this process has not used yet.
pub fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Bytes that are not random but different each time, which is enough for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) -> std::result::Result<(), NoEntropy> {
        let number = unique().to_le_bytes();
        bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, digit)| *byte = *digit);
        Ok(())
    }
}
