//! How the members together would divide a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::figures::{number, rounded};
use crate::domain::{Bucket, BucketWeight, Take, Weights, ascending_sum};

/// Each distribution normalized, then their unweighted mean, by bucket name. `None` where no take
/// carries one.
pub(super) fn mean_weights(takes: &[Arc<Take>]) -> Option<Vec<BucketWeight>> {
    let carried: Vec<&Weights> =
        takes.iter().filter_map(|take| take.draft().weights.as_ref()).collect();
    if carried.is_empty() {
        return None;
    }
    let mut shares: BTreeMap<&Bucket, Vec<f64>> = BTreeMap::new();
    for weights in &carried {
        let total = ascending_sum(weights.entries().iter().map(|entry| entry.weight));
        for entry in weights.entries() {
            shares.entry(&entry.bucket).or_default().push(entry.weight / total);
        }
    }
    let mean = |(bucket, shares): (&Bucket, Vec<f64>)| BucketWeight {
        bucket: bucket.clone(),
        weight: rounded(ascending_sum(shares) / number(carried.len())),
    };
    Some(shares.into_iter().map(mean).collect())
}
