//! How a member compares with the other members of its sessions.

use crate::domain::{Figures, Stance};
use crate::rules::aggregate::{Position, number};

/// Figures about a member over some sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberFigures {
    /// The mean [`distance_from_others`], regardless of its sign, over the sessions if there is one.
    pub distance: Option<f64>,
    /// The number of sessions in which [`is_against`] is `Some`.
    pub decided: usize,
    /// The number of those sessions in which it is `Some(true)`.
    pub against: usize,
}

/// The figures of a member, from its positions that count, each with the figures of its session.
pub fn member_figures<'a>(
    counted: impl IntoIterator<Item = (Position, &'a Figures)>,
) -> MemberFigures {
    let mut figures = MemberFigures::default();
    let mut distances = Vec::new();
    for (own, session) in counted {
        distances.extend(distance_from_others(own, session).map(f64::abs));
        let consensus = session.consensus.as_ref();
        if let Some(against) = consensus.and_then(|it| is_against(own, it.stance)) {
            figures.decided += 1;
            figures.against += usize::from(against);
        }
    }
    let mean = distances.iter().sum::<f64>() / number(distances.len());
    MemberFigures { distance: (!distances.is_empty()).then_some(mean), ..figures }
}

/// How far a position that counts in these figures is from the score of the others: −4 to 4, positive where it is more
/// bullish. `None` without others.
///
/// The score of the others follows from that of all: both are means weighted by confidence.
pub fn distance_from_others(own: Position, figures: &Figures) -> Option<f64> {
    /// The figures are rounded to 12 decimals: smaller sums of confidences are none, and smaller parts of the distance
    /// mean nothing.
    const PRECISION: f64 = 1e-9;
    let consensus = figures.consensus.as_ref()?;
    let stances = &figures.stances;
    let counts = [
        (-2.0, stances.bearish),
        (-1.0, stances.cautious),
        (0.0, stances.neutral),
        (1.0, stances.constructive),
        (2.0, stances.bullish),
    ];
    let members: usize = counts.iter().map(|(_, count)| count).sum();
    let others = number(members.checked_sub(1).filter(|others| *others > 0)?);
    let rank = f64::from(own.rank);
    let total = consensus.confidence * number(members);
    let of_others = total - own.confidence;
    let score = if of_others > PRECISION * number(members) {
        (consensus.score * total - rank * own.confidence) / of_others
    } else {
        // All of the others have a confidence of 0.
        (counts.iter().map(|(rank, count)| rank * number(*count)).sum::<f64>() - rank) / others
    };
    Some(((rank - score) / PRECISION).round() * PRECISION)
}

/// Whether a position is on the other side of the consensus. `None` if the consensus is neutral: it
/// has no other side. A neutral position is never against.
pub fn is_against(own: Position, consensus: &str) -> Option<bool> {
    match consensus {
        "bearish" | "cautious" => Some(own.rank > 0),
        "constructive" | "bullish" => Some(own.rank < 0),
        _ => None,
    }
}

/// How often the stance differs from the one before. All stances are of one subject, oldest first.
pub fn stance_changes<'a>(stances: impl IntoIterator<Item = &'a Stance>) -> usize {
    let stances: Vec<_> = stances.into_iter().collect();
    stances.windows(2).filter(|pair| matches!(pair, [before, after] if before != after)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(rank: i8, confidence: f64) -> Position {
        Position { rank, confidence }
    }

    #[test]
    fn neutral_is_never_against_and_has_no_other_side() {
        for (rank, consensus, expected) in [
            (2, "cautious", Some(true)),
            (-1, "cautious", Some(false)),
            (0, "bullish", Some(false)),
            (-2, "constructive", Some(true)),
            (2, "neutral", None),
        ] {
            assert_eq!(is_against(position(rank, 1.0), consensus), expected, "{rank} {consensus}");
        }
    }

    #[test]
    fn changes_of_stance_are_counted_within_a_subject() {
        let stances = ["bullish", "bullish", "neutral", "bullish"];
        let stances = stances.map(|stance| Stance::parse(stance).unwrap());
        assert_eq!(stance_changes(&stances), 2);
        assert_eq!(stance_changes(&stances[..1]), 0);
        assert_eq!(stance_changes([]), 0);
    }
}
