//! How a member compares with the other members of its sessions.

use crate::domain::{MemberId, Session, Stance};
use crate::rules::aggregate::{Position, number, score};

/// What the record says about a member over some sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberFigures {
    /// The sessions with a snapshot whose roster expected the member, and of those the ones in which its
    /// take counted.
    pub expected: usize,
    /// See [`expected`](Self::expected).
    pub filed: usize,
    /// The mean [`distance_from_others`], regardless of its sign, over the sessions where there is one.
    pub distance: Option<f64>,
    /// The sessions in which [`is_against`] can be said.
    pub decided: usize,
    /// Those of them in which the member was against the consensus.
    pub against: usize,
}

/// The figures of a member over these sessions. Those without a snapshot are ignored.
pub fn member_figures<'a>(
    member: &MemberId,
    sessions: impl IntoIterator<Item = &'a Session>,
) -> MemberFigures {
    let mut figures = MemberFigures::default();
    let mut distances = Vec::new();
    for session in sessions {
        let Some(snapshot) = session.snapshot.as_deref() else { continue };
        let own = snapshot.quotes.iter().position(|quote| quote.member_id == *member);
        let entry = session.roster.as_ref().and_then(|roster| roster.entry(member));
        if entry.is_some_and(|entry| !entry.excused) {
            figures.expected += 1;
            figures.filed += usize::from(own.is_some());
        }
        let quoted = own.and_then(|own| snapshot.quotes.get(own));
        let Some(position) = quoted.and_then(Position::of_quote) else { continue };
        let others = snapshot.quotes.iter().filter(|quote| quote.member_id != *member);
        let others: Vec<_> = others.filter_map(Position::of_quote).collect();
        distances.extend(distance_from_others(position, &others).map(f64::abs));
        let consensus = snapshot.consensus.as_ref();
        if let Some(against) = consensus.and_then(|it| is_against(position, it.stance)) {
            figures.decided += 1;
            figures.against += usize::from(against);
        }
    }
    let mean = distances.iter().sum::<f64>() / number(distances.len());
    MemberFigures { distance: (!distances.is_empty()).then_some(mean), ..figures }
}

/// How far a member is from the score of the others, with its own take left out: −4 to 4, positive where
/// the member is more bullish. `None` without others.
pub fn distance_from_others(own: Position, others: &[Position]) -> Option<f64> {
    Some(f64::from(own.rank) - score(others)?)
}

/// Whether a position is on the other side of the consensus. `None` where the consensus is neutral: it
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
    fn distance_leaves_out_the_members_own_take() {
        let others = [position(-1, 0.5), position(1, 0.5)];
        assert_eq!(distance_from_others(position(2, 1.0), &others), Some(2.0));
        assert_eq!(distance_from_others(position(-1, 0.0), &others), Some(-1.0));
        assert_eq!(distance_from_others(position(2, 1.0), &[]), None);
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
