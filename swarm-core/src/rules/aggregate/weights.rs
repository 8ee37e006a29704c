//! The mean of the weight distributions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::figures::{number, rounded};
use crate::domain::{Bucket, BucketWeight, Session, Take, Weight, Weights, ascending_sum};

/// The unweighted mean of the normalized distributions. If the session lists buckets, the result
/// has exactly those, in that order; otherwise it is sorted by bucket name. `None` when no take has
/// a distribution.
pub(super) fn mean_weights(session: &Session, takes: &[Arc<Take>]) -> Option<Vec<BucketWeight>> {
    let listed = session.buckets.as_deref();
    let weights = takes.iter().filter_map(|take| take.draft().weights.as_ref());
    let distributions: Vec<_> = weights.filter_map(|weights| normalized(weights, listed)).collect();
    if distributions.is_empty() {
        return None;
    }
    let count = number(distributions.len());
    let mut shares: BTreeMap<&Bucket, Vec<f64>> = BTreeMap::new();
    for (bucket, share) in distributions.into_iter().flatten() {
        shares.entry(bucket).or_default().push(share);
    }
    let buckets = match listed {
        Some(listed) => listed.iter().collect(),
        None => shares.keys().copied().collect::<Vec<_>>(),
    };
    let mean = |bucket: &Bucket| {
        let sum = ascending_sum(shares.remove(bucket).unwrap_or_default().into_iter());
        BucketWeight { bucket: bucket.clone(), weight: rounded(sum / count) }
    };
    Some(buckets.into_iter().map(mean).collect())
}

/// The share of each bucket, restricted to the listed buckets if there are any. `None` when none of
/// them has a positive weight.
fn normalized<'a>(
    weights: &'a Weights,
    listed: Option<&[Bucket]>,
) -> Option<Vec<(&'a Bucket, f64)>> {
    let counts = |entry: &&Weight| listed.is_none_or(|listed| listed.contains(&entry.bucket));
    let entries: Vec<_> = weights.entries().iter().filter(counts).collect();
    let total = ascending_sum(entries.iter().map(|entry| entry.weight));
    let share = |entry: &'a Weight| (&entry.bucket, entry.weight / total);
    (total > 0.0).then(|| entries.into_iter().map(share).collect())
}
