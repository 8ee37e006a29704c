//! The stances of a session as one thin stacked bar, for lists.

use super::STANCES;
use super::svg::{Svg, length};
use crate::pages::markup::Markup;

/// Number of members per stance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// From bearish to bullish.
    pub(crate) known: [usize; 5],
    /// Any other stance.
    pub(crate) other: usize,
}

impl Counts {
    /// The counts that are not zero, in words: `1 bearish, 3 bullish`.
    pub(crate) fn words(&self) -> String {
        let known = STANCES.into_iter().zip(self.known);
        let present = known.chain([("other", self.other)]).filter(|(_, count)| *count > 0);
        let words: Vec<_> = present.map(|(stance, count)| format!("{count} {stance}")).collect();
        if words.is_empty() { "no takes".to_owned() } else { words.join(", ") }
    }

    /// The counts alone, from bearish to bullish, then of other stances if there are any: `0 · 1 · 3 · 2 · 5`.
    pub(crate) fn figures(&self) -> String {
        let other = (self.other > 0).then_some(self.other);
        let all: Vec<_> = self.known.into_iter().chain(other).map(|it| it.to_string()).collect();
        all.join(" · ")
    }

    /// The sides: `5 for, 3 against, 2 neutral`.
    pub(crate) fn sides(&self) -> String {
        let [bearish, cautious, neutral, constructive, bullish] = self.known;
        let parts = [
            (constructive + bullish, "for"),
            (bearish + cautious, "against"),
            (neutral, "neutral"),
            (self.other, "other"),
        ];
        let there = parts.into_iter().filter(|(count, _)| *count > 0);
        there.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    fn total(&self) -> usize {
        self.known.iter().sum::<usize>() + self.other
    }
}

/// Draws one segment per stance that occurs, as long as its share.
pub(crate) fn strip(counts: &Counts) -> Markup {
    let mut svg = Svg::new("strip", 12.0, &counts.words());
    let total = length(counts.total().max(1));
    let mut from = 0.0;
    for (stance, count) in STANCES.into_iter().zip(counts.known).chain([("other", counts.other)]) {
        if count > 0 {
            let to = from + length(count) * 100.0 / total;
            svg.segment(stance, (from, to));
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
        let Markup(svg) = strip(&Counts { known: [1, 0, 0, 2, 0], other: 1 });
        assert!(svg.contains("aria-label=\"1 bearish, 2 constructive, 1 other\""), "{svg}");
        for bar in
            ["\"bearish\" x=\"0%\" width=\"25%\"", "\"constructive\" x=\"25%\" width=\"50%\""]
        {
            assert!(svg.contains(bar), "{bar} in {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 3);
        let all = Counts { known: [1, 2, 3, 4, 5], other: 6 };
        assert_eq!(all.sides(), "9 for, 3 against, 3 neutral, 6 other");
        assert_eq!(Counts { known: [0, 2, 0, 0, 0], other: 0 }.sides(), "2 against");
        assert_eq!(Counts { known: [1, 0, 0, 2, 0], other: 1 }.figures(), "1 · 0 · 0 · 2 · 0 · 1");
    }

    #[test]
    fn strip_without_takes_is_empty() {
        let Markup(svg) = strip(&Counts::default());
        assert!(svg.contains("no takes") && !svg.contains("<rect"), "{svg}");
    }
}
