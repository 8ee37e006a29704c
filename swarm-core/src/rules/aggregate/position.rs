//! The position of a member in a session, and the score of several (API.md, 6.5).

use super::figures::{number, rounded};
use crate::domain::{Confidence, Quote, Stance, Take};

/// A known stance with its confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// The rank of the stance, −2 to 2.
    pub rank: i8,
    /// The confidence, 0 to 1.
    pub confidence: f64,
}

impl Position {
    /// The position of this stance; `None` for an unknown one.
    pub fn of(stance: &Stance, confidence: Confidence) -> Option<Self> {
        Some(Self { rank: stance.known()?, confidence: confidence.get() })
    }

    /// The position of a take.
    pub fn of_take(take: &Take) -> Option<Self> {
        Self::of(&take.draft().stance, take.draft().confidence)
    }

    /// The position of a quote in a snapshot.
    pub fn of_quote(quote: &Quote) -> Option<Self> {
        Self::of(&quote.stance, quote.confidence)
    }
}

/// The mean rank weighted by confidence, −2 to 2; the plain mean if all confidences are 0. `None` without
/// positions. It does not depend on their order.
pub fn score(positions: &[Position]) -> Option<f64> {
    means(positions.to_vec()).map(|(score, _)| score)
}

/// The [`score`] and the mean confidence.
pub(super) fn means(mut positions: Vec<Position>) -> Option<(f64, f64)> {
    if positions.is_empty() {
        return None;
    }
    positions
        .sort_unstable_by(|a, b| a.rank.cmp(&b.rank).then(a.confidence.total_cmp(&b.confidence)));
    let count = number(positions.len());
    let rank = |position: &Position| f64::from(position.rank);
    let total: f64 = positions.iter().map(|position| position.confidence).sum();
    let score = if total > 0.0 {
        positions.iter().map(|position| rank(position) * position.confidence).sum::<f64>() / total
    } else {
        positions.iter().map(rank).sum::<f64>() / count
    };
    Some((rounded(score), rounded(total / count)))
}
