//! The stances of a session as one thin stacked bar, for lists.

use swarm_core::domain::{RankedStance, Stance, StanceScale, Stances};

use super::svg::{Svg, float};
use super::tone;
use crate::pages::markup::Markup;

/// Number of members per stance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    /// In ascending order of the ranks.
    known: Vec<Count>,
    /// Any other stance.
    other: usize,
}

/// The number of members with a stance.
#[derive(Clone, Debug, PartialEq)]
struct Count {
    name: String,
    /// The class of its colour.
    tone: &'static str,
    /// The rank on the scale of the service, −2 to 2.
    rank: f64,
    members: usize,
}

impl Counts {
    /// The counts of a snapshot.
    pub(crate) fn of(stances: &Stances) -> Self {
        let scale = stances.scale();
        let count = |(place, (stance, members)): (usize, (&RankedStance, usize))| Count {
            name: stance.name.as_str().to_owned(),
            tone: tone(scale, place),
            rank: scale.normalized(stance.rank),
            members,
        };
        let known = stances.counts().enumerate().map(count).collect();
        Self { known, other: stances.other() }
    }

    /// Counts these stances, which are of a session with this scale.
    pub(crate) fn of_each<'a>(
        scale: &StanceScale,
        stances: impl IntoIterator<Item = &'a Stance>,
    ) -> Self {
        let mut counts = Self::of(&Stances::none(Some(scale)));
        for stance in stances {
            match scale.place(stance).and_then(|place| counts.known.get_mut(place)) {
                Some(count) => count.members += 1,
                None => counts.other += 1,
            }
        }
        counts
    }

    /// The counts that are not zero, in words: `1 bearish, 3 bullish`.
    pub(crate) fn words(&self) -> String {
        let known = self.known.iter().map(|count| (count.name.as_str(), count.members));
        let present = known.chain([("other", self.other)]).filter(|(_, count)| *count > 0);
        let words: Vec<_> = present.map(|(stance, count)| format!("{count} {stance}")).collect();
        if words.is_empty() { "no takes".to_owned() } else { words.join(", ") }
    }

    /// The counts alone, in ascending order of the ranks, then of other stances if there are any: `0 · 1 · 3 · 2 · 5`.
    pub(crate) fn figures(&self) -> String {
        let other = (self.other > 0).then_some(self.other);
        let known = self.known.iter().map(|count| count.members);
        let all: Vec<_> = known.chain(other).map(|it| it.to_string()).collect();
        all.join(" · ")
    }

    /// The members below the middle of the scale, in it, and above it.
    pub(crate) fn by_side(&self) -> [usize; 3] {
        let of = |is_on: fn(f64) -> bool| {
            let counts = self.known.iter().filter(|count| is_on(count.rank));
            counts.map(|count| count.members).sum::<usize>()
        };
        [of(|rank| rank < 0.0), of(|rank| rank == 0.0), of(|rank| rank > 0.0)]
    }

    /// The members with any other stance.
    pub(crate) fn other(&self) -> usize {
        self.other
    }

    /// The sides of the middle of the scale: `5 for, 3 against, 2 neutral`.
    pub(crate) fn sides(&self) -> String {
        let [against, neutral, for_it] = self.by_side();
        let parts =
            [(for_it, "for"), (against, "against"), (neutral, "neutral"), (self.other, "other")];
        let there = parts.into_iter().filter(|(count, _)| *count > 0);
        there.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    /// The counts with the classes of their colours, then of other stances.
    pub(crate) fn by_tone(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let known = self.known.iter().map(|count| (count.tone, count.members));
        known.chain([("other", self.other)])
    }

    fn total(&self) -> usize {
        self.known.iter().map(|count| count.members).sum::<usize>() + self.other
    }
}

/// Draws one segment per stance that occurs, as long as its share.
pub(crate) fn strip(counts: &Counts) -> Markup {
    let mut svg = Svg::new("strip", 12.0, &counts.words());
    let total = float(counts.total().max(1));
    let mut from = 0.0;
    for (tone, count) in counts.by_tone() {
        if count > 0 {
            let to = from + float(count) * 100.0 / total;
            svg.segment(tone, (from, to));
            from = to;
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_proportional_to_counts() {
        let Markup(svg) = strip(&Counts::of(&Stances::of_service([1, 0, 0, 2, 0], 1)));
        assert!(svg.contains("aria-label=\"1 bearish, 2 constructive, 1 other\""), "{svg}");
        for bar in
            ["\"bearish\" x=\"0%\" width=\"25%\"", "\"constructive\" x=\"25%\" width=\"50%\""]
        {
            assert!(svg.contains(bar), "{bar} in {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 3);
        let all = Counts::of(&Stances::of_service([1, 2, 3, 4, 5], 6));
        assert_eq!(all.sides(), "9 for, 3 against, 3 neutral, 6 other");
        assert_eq!(Counts::of(&Stances::of_service([0, 2, 0, 0, 0], 0)).sides(), "2 against");
        let counts = Counts::of(&Stances::of_service([1, 0, 0, 2, 0], 1));
        assert_eq!(counts.figures(), "1 · 0 · 0 · 2 · 0 · 1");
    }

    #[test]
    fn sides_are_those_of_the_middle_of_the_scale() {
        let ranked =
            |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
        // The second is nearest to the middle, and has the colour of it.
        let scale = [("no", 0.0), ("hardly", 40.0), ("yes", 100.0)].map(ranked);
        let scale = StanceScale::parse(scale.into()).unwrap();
        let filed = ["no", "hardly", "yes", "moon"].map(|name| Stance::parse(name).unwrap());
        let counts = Counts::of_each(&scale, &filed);
        assert_eq!(counts.sides(), "1 for, 2 against, 1 other");
        assert_eq!(counts.by_side(), [2, 0, 1]);
        assert!(counts.by_tone().any(|count| count == ("neutral", 1)));
    }

    #[test]
    fn strip_without_takes_is_empty() {
        let Markup(svg) = strip(&Counts::of(&Stances::default()));
        assert!(svg.contains("no takes") && !svg.contains("<rect"), "{svg}");
    }
}
