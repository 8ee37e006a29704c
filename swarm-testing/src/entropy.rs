//! Bytes in place of randomness.

use std::sync::atomic::{AtomicU64, Ordering};

use swarm_core::domain::TokenHash;
use swarm_core::{Entropy, NoEntropy};

use crate::race::unique;

/// A source of bytes that are not random, but different each time, for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        let number = unique().to_le_bytes();
        bytes.iter_mut().zip(number.iter().cycle()).for_each(|(byte, digit)| *byte = *digit);
        Ok(())
    }
}

/// Bytes that look random and follow from a seed, so that a test that calls a service in the same order gets the same ids, tokens and
/// salts in each run. Two seeds give different bytes.
#[derive(Debug)]
pub struct SeededEntropy {
    seed: u64,
    drawn: AtomicU64,
}

impl SeededEntropy {
    /// The bytes of this seed, from the first.
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        for part in bytes.chunks_mut(32) {
            let number = self.drawn.fetch_add(1, Ordering::Relaxed);
            let hash = TokenHash::of(&[self.seed, number].map(u64::to_le_bytes).concat());
            part.copy_from_slice(&hash.as_bytes()[..part.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_from_the_seed() {
        let drawn = |seed| {
            let (entropy, mut bytes) = (SeededEntropy::new(seed), [0; 80]);
            for part in bytes.chunks_mut(40) {
                entropy.fill(part).unwrap();
            }
            bytes
        };
        assert_eq!(drawn(1), drawn(1));
        let [one, other] = [drawn(1), drawn(2)];
        let parts: std::collections::BTreeSet<_> =
            one.chunks(8).chain(other.chunks(8)).map(<[u8]>::to_vec).collect();
        assert_eq!(parts.len(), 20);
    }
}
