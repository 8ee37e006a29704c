//! What changed between two sessions of a subject.

use crate::domain::{MemberId, Quote, Session};
use crate::rules::aggregate::Position;

/// What changed from one session of a subject to the next. Both have a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movement {
    /// The score before and after; `None` if one of them has no consensus.
    pub score: Option<(f64, f64)>,
    /// The members that changed sides.
    pub crossings: Vec<Crossing>,
    /// The members that were expected and did not file. Without a roster: those that filed the time
    /// before.
    pub missing: Vec<MemberId>,
}

/// A member that changed sides: from a positive rank to a negative one, or the other way.
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
    let is_quoted = |member: &MemberId| to.quotes.iter().any(|quote| quote.member_id == *member);
    let expected: Vec<_> = match &after.roster {
        Some(roster) => {
            let entries = roster.entries().iter().filter(|entry| !entry.excused);
            entries.map(|entry| &entry.member_id).collect()
        }
        None => from.quotes.iter().map(|quote| &quote.member_id).collect(),
    };
    Some(Movement {
        score: scores.map(|(from, to)| (from.score, to.score)),
        crossings: to.quotes.iter().filter_map(|quote| crossing(&from.quotes, quote)).collect(),
        missing: expected.into_iter().filter(|member| !is_quoted(member)).cloned().collect(),
    })
}

fn crossing(before: &[Quote], after: &Quote) -> Option<Crossing> {
    let before = before.iter().find(|quote| quote.member_id == after.member_id)?;
    let (from, to) = (Position::of_quote(before)?, Position::of_quote(after)?);
    (from.rank.signum() * to.rank.signum() < 0).then(|| Crossing {
        member: after.member_id.clone(),
        from: before.stance.as_str().to_owned(),
        to: after.stance.as_str().to_owned(),
    })
}
