//! The consensus: the combined position of the members with a known stance.

use std::sync::Arc;

use super::position::{Position, means};
use crate::domain::{Consensus, STANCES, Take};

/// The score and the mean confidence. `None` when no take has a known stance.
pub(super) fn consensus(takes: &[Arc<Take>]) -> Option<Consensus> {
    let known = takes.iter().filter_map(|take| Position::of_take(take)).collect();
    let (score, confidence) = means(known)?;
    Some(Consensus { stance: nearest(score), score, confidence })
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
