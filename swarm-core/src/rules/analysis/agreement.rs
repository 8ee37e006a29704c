//! Whether the members of a session agree.

use crate::domain::Stances;
use crate::rules::aggregate::number;

/// How the members with a known stance divide into the side of the score, the other side and neutral. A
/// negative rank is one side, a positive rank the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// At least two thirds are on the side of the score.
    Agree {
        /// The members on that side.
        members: usize,
        /// All members with a known stance.
        of: usize,
    },
    /// At least two thirds are neutral.
    Neutral {
        /// The neutral members.
        members: usize,
        /// All members with a known stance.
        of: usize,
    },
    /// Neither.
    Split {
        /// The members on the side of the score; of a score of 0, those on the larger side.
        with: usize,
        /// The members on the other side.
        against: usize,
        /// The neutral members.
        neutral: usize,
    },
}

/// How the members divide at this score; `None` without members of a known stance.
pub fn agreement(stances: &Stances, score: f64) -> Option<Agreement> {
    let down = stances.bearish + stances.cautious;
    let up = stances.constructive + stances.bullish;
    let neutral = stances.neutral;
    let of = down + up + neutral;
    let (with, against) =
        if score > 0.0 || (score == 0.0 && up > down) { (up, down) } else { (down, up) };
    let is_most = |members: usize| members.saturating_mul(3) >= of.saturating_mul(2);
    Some(match of {
        0 => return None,
        _ if is_most(with) => Agreement::Agree { members: with, of },
        _ if is_most(neutral) => Agreement::Neutral { members: neutral, of },
        _ => Agreement::Split { with, against, neutral },
    })
}

/// The mean distance of the members' ranks from the score, 0 to 4; `None` without members of a known
/// stance.
pub fn dissent(stances: &Stances, score: f64) -> Option<f64> {
    let Stances { bearish, cautious, neutral, constructive, bullish, .. } = *stances;
    let counts = [bearish, cautious, neutral, constructive, bullish];
    let members: usize = counts.iter().sum();
    let ranks = [-2.0, -1.0, 0.0, 1.0, 2.0_f64];
    let apart = ranks.iter().zip(counts).map(|(rank, count)| (rank - score).abs() * number(count));
    (members > 0).then(|| apart.sum::<f64>() / number(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stances([bearish, cautious, neutral, constructive, bullish]: [usize; 5]) -> Stances {
        Stances { bearish, cautious, neutral, constructive, bullish, other: 3 }
    }

    #[test]
    fn members_agree_from_two_thirds_on_or_are_split() {
        use Agreement::{Agree, Neutral, Split};
        for (counts, score, expected) in [
            ([2, 7, 0, 2, 0], -0.44, Agree { members: 9, of: 11 }),
            ([0, 4, 0, 3, 2], 0.15, Split { with: 5, against: 4, neutral: 0 }),
            // A few confident members outweigh more members with less confidence.
            ([0, 4, 0, 3, 2], -0.15, Split { with: 4, against: 5, neutral: 0 }),
            ([0, 1, 4, 1, 0], 0.0, Neutral { members: 4, of: 6 }),
            ([1, 0, 1, 1, 1], 0.0, Split { with: 2, against: 1, neutral: 1 }),
            ([0, 0, 0, 2, 0], 1.0, Agree { members: 2, of: 2 }),
            ([0, 0, 1, 2, 0], 0.7, Agree { members: 2, of: 3 }),
        ] {
            assert_eq!(agreement(&stances(counts), score), Some(expected), "{counts:?} {score}");
        }
        assert_eq!(agreement(&stances([0; 5]), 0.0), None);
    }

    #[test]
    fn dissent_is_mean_distance_from_score() {
        assert_eq!(dissent(&stances([0, 0, 0, 3, 0]), 1.0), Some(0.0));
        assert_eq!(dissent(&stances([1, 0, 0, 0, 1]), 0.0), Some(2.0));
        assert_eq!(dissent(&stances([0, 1, 0, 1, 0]), 0.5), Some(1.0));
        assert_eq!(dissent(&stances([0; 5]), 0.0), None);
    }
}
