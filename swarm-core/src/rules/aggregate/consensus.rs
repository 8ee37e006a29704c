//! The consensus: the combined position of the members with a known stance.

use std::sync::Arc;

use super::figures::{number, rounded};
use crate::domain::{Consensus, STANCES, Take};

/// The mean rank weighted by confidence (the plain mean if all confidences are 0), and the mean
/// confidence. `None` when no take has a known stance.
pub(super) fn consensus(takes: &[Arc<Take>]) -> Option<Consensus> {
    let mut known: Vec<(i8, f64)> = takes.iter().filter_map(|take| ranked(take)).collect();
    if known.is_empty() {
        return None;
    }
    known.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let count = number(known.len());
    let total: f64 = known.iter().map(|(_, confidence)| confidence).sum();
    let score = if total > 0.0 {
        known.iter().map(|(rank, confidence)| f64::from(*rank) * confidence).sum::<f64>() / total
    } else {
        known.iter().map(|(rank, _)| f64::from(*rank)).sum::<f64>() / count
    };
    let score = rounded(score);
    Some(Consensus { stance: nearest(score), score, confidence: rounded(total / count) })
}

fn ranked(take: &Take) -> Option<(i8, f64)> {
    let draft = take.draft();
    Some((draft.stance.known()?, draft.confidence.get()))
}

/// The known stance whose rank is nearest to `score`; a tie goes to the one closer to neutral.
fn nearest(score: f64) -> &'static str {
    let distance = |rank: i8| (f64::from(rank) - score).abs();
    STANCES
        .iter()
        .min_by(|(_, a), (_, b)| {
            distance(*a).total_cmp(&distance(*b)).then(a.unsigned_abs().cmp(&b.unsigned_abs()))
        })
        .map_or("neutral", |(name, _)| name)
}
