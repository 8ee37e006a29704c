//! The ranking of members by their skill.

use super::{MIN_SCORED, ScoreFigures};
use crate::domain::MemberId;

/// A member in the ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedMember {
    /// Its place; `None` where it has too few scored sessions.
    pub place: Option<usize>,
    /// The member.
    pub member_id: MemberId,
    /// Its figures.
    pub figures: ScoreFigures,
}

/// A ranking: whoever surely lost less than the crowd comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The number of scored sessions that a place takes.
    pub min: usize,
    /// The figures of the crowd, over all sessions. Its skill is 0 by definition.
    pub crowd: ScoreFigures,
    /// The figures of always filing neutral, over all sessions.
    pub neutral: ScoreFigures,
    /// The members with a place, by the lower bound of their skill.
    pub ranked: Vec<RankedMember>,
    /// The members with too few scored sessions, by their number.
    pub unranked: Vec<RankedMember>,
}

impl Ranking {
    /// Ranks members with these figures. A member without a scored session is left out.
    pub(super) fn of(
        min: usize,
        [crowd, neutral]: [ScoreFigures; 2],
        members: impl Iterator<Item = (MemberId, ScoreFigures)>,
    ) -> Self {
        let row = |(member_id, figures)| RankedMember { place: None, member_id, figures };
        let listed = members.map(row).filter(|member| member.figures.scored > 0);
        let (mut ranked, mut unranked): (Vec<_>, Vec<_>) =
            listed.partition(|member| member.figures.scored >= min);
        ranked.sort_unstable_by(|a, b| {
            a.figures.by_skill(&b.figures).then_with(|| a.member_id.cmp(&b.member_id))
        });
        unranked.sort_unstable_by(|a, b| {
            let fewer = a.figures.scored.cmp(&b.figures.scored);
            fewer.reverse().then_with(|| a.member_id.cmp(&b.member_id))
        });
        let mut before: Option<(usize, ScoreFigures)> = None;
        for (position, member) in (1..).zip(&mut ranked) {
            let tied = before.filter(|(_, figures)| figures.by_skill(&member.figures).is_eq());
            let place = tied.map_or(position, |(place, _)| place);
            member.place = Some(place);
            before = Some((place, member.figures));
        }
        Self { min, crowd, neutral, ranked, unranked }
    }

    /// The members whose figures say something: with a place, and at least [`MIN_SCORED`] scored sessions, even where fewer give
    /// a place.
    pub fn telling(&self) -> impl Iterator<Item = &RankedMember> {
        self.ranked.iter().filter(|member| member.figures.scored >= MIN_SCORED)
    }

    /// The number of sessions that count.
    pub fn sessions(&self) -> usize {
        self.crowd.scored
    }
}
