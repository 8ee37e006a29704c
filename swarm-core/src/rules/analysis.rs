//! What the pages say about a record beyond its fields (MANUAL.md, 10.3): the stage of a session,
//! whether its members agree, what changed since the session before, and how a member compares with the
//! others. All of it measures agreement, not accuracy: see [`ScoreBook`](super::ScoreBook) for who was right.

use std::cmp::Ordering;

use super::aggregate::{RankedPosition, number, rounded};
use super::{PublicTake, takes_may_come};
use crate::domain::{
    Figures, MemberId, Method, Quote, Session, SessionState, Snapshot, Stance, StanceScale,
    Stances, Timestamp,
};

/// The stage of a session. The state alone does not determine it: takes are accepted until the deadline in
/// every state (API.md, 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Planned; takes are accepted already.
    Scheduled,
    /// Takes are collected.
    Open,
    /// The operator ended the collection, but the deadline has not passed: takes are still accepted.
    Closing,
    /// No more takes are accepted, and there is no snapshot yet.
    AwaitingResult,
    /// The snapshot is written, but not published. Later takes do not count.
    Aggregated,
    /// The result is published. Later takes do not count.
    Published,
}

/// Returns the stage of a session in this state and with this deadline.
pub fn stage(state: SessionState, deadline: Option<Timestamp>, now: Timestamp) -> Stage {
    let accepts = takes_may_come(deadline, now);
    match state {
        SessionState::Published => Stage::Published,
        SessionState::Aggregated => Stage::Aggregated,
        SessionState::Scheduled if accepts => Stage::Scheduled,
        SessionState::Collecting if accepts => Stage::Open,
        SessionState::WindowClosed if accepts => Stage::Closing,
        SessionState::Scheduled | SessionState::Collecting | SessionState::WindowClosed => {
            Stage::AwaitingResult
        }
    }
}

impl Stage {
    /// Returns the stage that is named like a state, whatever the deadline.
    pub fn of_state(state: SessionState) -> Self {
        match state {
            SessionState::Scheduled => Self::Scheduled,
            SessionState::Collecting => Self::Open,
            SessionState::WindowClosed => Self::AwaitingResult,
            SessionState::Aggregated => Self::Aggregated,
            SessionState::Published => Self::Published,
        }
    }

    /// Returns its name for people.
    pub fn word(self) -> &'static str {
        match self {
            // Takes are accepted already.
            Self::Scheduled => "announced",
            Self::Open => "open",
            // The collection is over, although late takes may be accepted.
            Self::Closing | Self::AwaitingResult => "closed",
            Self::Aggregated => "result",
            Self::Published => "published",
        }
    }

    /// Returns whether a take filed now would count.
    pub fn takes_count(self) -> bool {
        matches!(self, Self::Scheduled | Self::Open | Self::Closing)
    }
}

/// Whether a take counts in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The take counts.
    Counted,
    /// The take was filed after the snapshot was written.
    Late,
    /// The member was not on the roster, or was excused; or a later revision counts.
    NotExpected,
}

/// Returns whether the latest take of a member counts in a snapshot with these figures, of which only quotes were left out.
/// `counts` is whether takes of its member do. `None` where only the quotes say: the take was filed in the millisecond
/// of the aggregation.
pub(crate) fn counting_by_time(
    filed_at: Timestamp,
    figures: &Figures,
    counts: bool,
) -> Option<Counting> {
    match filed_at.cmp(&figures.aggregated_at) {
        Ordering::Greater => Some(Counting::Late),
        Ordering::Equal => None,
        Ordering::Less if counts => Some(Counting::Counted),
        Ordering::Less => Some(Counting::NotExpected),
    }
}

/// Returns whether a take counts in the snapshot of its session.
pub fn counting(take: &PublicTake, snapshot: &Snapshot) -> Counting {
    if snapshot.quotes.iter().any(|quote| quote.take_id == take.id()) {
        Counting::Counted
    } else if take.filed_at() >= snapshot.figures.aggregated_at {
        Counting::Late
    } else {
        Counting::NotExpected
    }
}

/// The division of the members with a known stance into the side of the score, the other side and neutral. A rank below
/// the middle of the session's ranks is one side, a rank above it the other.
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

/// Returns the division of the members at this score; `None` without members of a known stance.
pub fn agreement(stances: &Stances, score: f64) -> Option<Agreement> {
    let (mut down, mut neutral, mut up) = (0, 0, 0);
    for (rank, count) in normalized_counts(stances) {
        match rank.total_cmp(&0.0) {
            Ordering::Less => down += count,
            Ordering::Equal => neutral += count,
            Ordering::Greater => up += count,
        }
    }
    let of = down + up + neutral;
    let score = stances.scale().normalized(score);
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

/// The number of members for each stance that has a rank, by its rank on the scale of the service, −2 to 2.
fn normalized_counts(stances: &Stances) -> impl Iterator<Item = (f64, usize)> {
    let scale = stances.scale();
    // Adding zero turns -0 into 0.
    stances.counts().map(|(stance, count)| (scale.normalized(stance.rank) + 0.0, count))
}

/// Returns the mean distance of the members' ranks from the score, on the scale of the session as the score is; `None`
/// without members of a known stance.
pub fn dissent(stances: &Stances, score: f64) -> Option<f64> {
    let members: usize = stances.counts().map(|(_, count)| count).sum();
    let apart = stances.counts().map(|(stance, count)| (stance.rank - score).abs() * number(count));
    (members > 0).then(|| rounded(apart.sum::<f64>() / number(members)))
}

/// What changed from one session of a subject to the next. Both have a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Movement {
    /// The score before and after; `None` if one of them has no consensus, or they have different stances.
    pub score: Option<(f64, f64)>,
    /// The members that changed sides.
    pub crossings: Vec<Crossing>,
    /// The members that were expected and did not file. Without a roster: those that filed the time
    /// before.
    pub missing: Vec<MemberId>,
}

/// A member that changed sides: from a rank above the middle to one below it, or the other way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The member.
    pub member: MemberId,
    /// Its stance before.
    pub from: String,
    /// Its stance after.
    pub to: String,
}

/// What changed; `None` unless both sessions have a snapshot.
pub fn movement(before: &Session, after: &Session) -> Option<Movement> {
    let (from, to) = (before.snapshot.as_deref()?, after.snapshot.as_deref()?);
    let scores = from.figures.consensus.as_ref().zip(to.figures.consensus.as_ref());
    let scales = [before, after].map(|session| session.declaration.scale());
    let scores = scores.filter(|_| scales[0] == scales[1]);
    let is_quoted = |member: &MemberId| to.quotes.iter().any(|quote| quote.member_id == *member);
    let expected: Vec<_> = match &after.roster {
        Some(roster) => roster.expected().collect(),
        None => from.quotes.iter().map(|quote| &quote.member_id).collect(),
    };
    Some(Movement {
        score: scores.map(|(from, to)| (from.score, to.score)),
        crossings: to
            .quotes
            .iter()
            .filter_map(|quote| crossing(&from.quotes, quote, scales))
            .collect(),
        missing: expected.into_iter().filter(|member| !is_quoted(member)).cloned().collect(),
    })
}

fn crossing(
    before: &[Quote],
    after: &Quote,
    [earlier, later]: [&StanceScale; 2],
) -> Option<Crossing> {
    let before = before.iter().find(|quote| quote.member_id == after.member_id)?;
    let (from, to) =
        (RankedPosition::of_quote(earlier, before)?, RankedPosition::of_quote(later, after)?);
    (from.rank * to.rank < 0.0).then(|| Crossing {
        member: after.member_id.clone(),
        from: before.stance.as_str().to_owned(),
        to: after.stance.as_str().to_owned(),
    })
}

/// Figures about a member over some sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberFigures {
    /// The mean distance of its positions from the score of the others, regardless of the sign, on the scale of the service.
    /// `None` if no session has one.
    pub distance: Option<f64>,
    /// The number of sessions whose consensus is on one side, not in the middle.
    pub decided: usize,
    /// The number of those sessions in which the position was on the other side.
    pub against: usize,
}

/// Returns the figures of a member, from its positions that count, each with the figures of its
/// session.
pub fn member_figures<'a>(
    counted: impl IntoIterator<Item = (RankedPosition, &'a Figures)>,
) -> MemberFigures {
    let mut figures = MemberFigures::default();
    let mut distances = Vec::new();
    for (own, session) in counted {
        distances.extend(distance_from_others(own, session).map(f64::abs));
        if let Some(against) = is_against(own, session) {
            figures.decided += 1;
            figures.against += usize::from(against);
        }
    }
    let mean = distances.iter().sum::<f64>() / number(distances.len());
    MemberFigures { distance: (!distances.is_empty()).then_some(mean), ..figures }
}

/// Returns the [distance](own_distance_from_others) on the scale of the service: −4 to 4, positive where it is more bullish.
///
/// The score of the others follows from that of all: both are means weighted by confidence.
pub(crate) fn distance_from_others(own: RankedPosition, figures: &Figures) -> Option<f64> {
    /// By how much the rounding to 12 decimals changes a figure at most.
    const ROUNDING: f64 = 5e-13;
    /// By how much that may change the distance. Mostly it is far less, and the distance is rounded to 9 decimals.
    const MAX_ERROR: f64 = 1e-6;
    const PARTS: f64 = 1e9;
    let consensus = figures.consensus.as_ref()?;
    if consensus.method.unwrap_or_default() != Method::Mean {
        return None;
    }
    let (stances, scale) = (&figures.stances, figures.stances.scale());
    let members: usize = normalized_counts(stances).map(|(_, count)| count).sum();
    let others = number(members.checked_sub(1).filter(|others| *others > 0)?);
    let (rank, all) = (own.rank, number(members));
    let total = consensus.confidence * all;
    let of_others = total - own.confidence;
    let distance = if of_others <= 2.0 * ROUNDING * all {
        // All of the others have a confidence of 0.
        let ranks = normalized_counts(stances).map(|(rank, count)| rank * number(count));
        rank - (ranks.sum::<f64>() - rank) / others
    } else {
        // The roundings of both figures, the distance being 4 at most, and each confidence 1.
        let error = ROUNDING * all * (8.0 + scale.normalized_distance(1.0)) / of_others;
        if error > MAX_ERROR {
            return None;
        }
        total * (rank - scale.normalized(consensus.score)) / of_others
    };
    // Adding zero turns -0 into 0.
    Some((distance.clamp(-4.0, 4.0) * PARTS).round() / PARTS + 0.0)
}

/// Returns the distance of a position that counts in these figures from the score of the others, on the scale of the session as the score
/// is; positive where the position is higher. `None` without others, where the score is no mean, and where the others have so little
/// confidence that the figures do not tell.
pub fn own_distance_from_others(own: RankedPosition, figures: &Figures) -> Option<f64> {
    let distance = distance_from_others(own, figures)?;
    Some(rounded(figures.stances.scale().own_distance(distance)))
}

/// Returns whether a position is on the other side of the consensus. `None` without a consensus, and if it is in the
/// middle, as neutral is: it has no other side. A position in the middle is never against.
pub(crate) fn is_against(own: RankedPosition, figures: &Figures) -> Option<bool> {
    let (scale, consensus) = (figures.stances.scale(), figures.consensus.as_ref()?);
    let side = scale.normalized(scale.rank(&consensus.stance)?);
    (side != 0.0).then_some(own.rank * side < 0.0)
}

/// Returns how often the stance differs from the one before. All stances are of one subject, oldest first.
pub fn stance_changes<'a>(stances: impl IntoIterator<Item = &'a Stance>) -> usize {
    let stances: Vec<_> = stances.into_iter().collect();
    stances.windows(2).filter(|pair| matches!(pair, [before, after] if before != after)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Consensus, Participation, RankedStance};

    #[test]
    fn stage_follows_from_state_and_deadline() {
        use SessionState::{Aggregated, Collecting, Published, Scheduled, WindowClosed};
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        for (state, ahead, passed) in [
            (Scheduled, Stage::Scheduled, Stage::AwaitingResult),
            (Collecting, Stage::Open, Stage::AwaitingResult),
            (WindowClosed, Stage::Closing, Stage::AwaitingResult),
            (Aggregated, Stage::Aggregated, Stage::Aggregated),
            (Published, Stage::Published, Stage::Published),
        ] {
            assert_eq!(stage(state, None, at(5)), ahead, "{state}: no deadline");
            assert_eq!(stage(state, Some(at(5)), at(5)), ahead, "{state}: at the deadline");
            assert_eq!(stage(state, Some(at(4)), at(5)), passed, "{state}: after it");
        }
    }

    fn stances(counts: [usize; 5]) -> Stances {
        Stances::of_service(counts, 3)
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
        // The double of 1 less that of 0.92 has more decimals.
        assert_eq!(dissent(&stances([0, 0, 0, 1, 0]), 0.92), Some(0.08));
        // On the scale of the session.
        let ranked =
            |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
        let percents = [("no", 0.0), ("yes", 100.0)].map(ranked);
        let percents = StanceScale::parse(percents.into()).unwrap();
        let mut filed = Stances::none(Some(&percents));
        filed.add(&Stance::parse("no").unwrap());
        assert_eq!(dissent(&filed, 30.0), Some(30.0));
    }

    #[test]
    fn neutral_is_never_against_and_has_no_other_side() {
        for (rank, consensus, expected) in [
            (2.0, "cautious", Some(true)),
            (-1.0, "cautious", Some(false)),
            (0.0, "bullish", Some(false)),
            (-2.0, "constructive", Some(true)),
            (2.0, "neutral", None),
        ] {
            let stance = Stance::parse(consensus).unwrap();
            let consensus = Consensus { stance, score: 0.0, confidence: 1.0, method: None };
            let figures = Figures {
                aggregated_at: Timestamp::EPOCH,
                participation: Participation { members: 2, expected: None, rate: None },
                quorum: None,
                stances: Stances::default(),
                consensus: Some(consensus.clone()),
            };
            let own = RankedPosition { rank, confidence: 1.0 };
            assert_eq!(is_against(own, &figures), expected, "{rank} {}", consensus.stance.as_str());
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
