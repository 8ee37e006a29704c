//! The stance field: a chart of the stance and confidence of each member of a session.
//!
//! Wide pages show five columns, bearish to bullish; height is confidence. Narrow pages show five
//! rows, bullish on top; confidence grows to the right. A dot is exactly at its confidence; dots that would
//! overlap are moved sideways. Members are named where there is room, those farthest from the mean first; the
//! table below the chart has all names. On wide pages dots are links to the takes.

mod columns;
mod layout;
mod marks;
mod rows;

use super::place;
use super::strip::Counts;
use crate::pages::markup::Markup;

pub(crate) use marks::{Dot, Mean, shown, signed};

/// Minimum number of dots of a chart that is wider than the text where there is room.
const BROAD: usize = 16;

/// Draws the field.
pub(crate) fn stance_field(dots: &[Dot], mean: Option<Mean>) -> Markup {
    let label = label(dots, mean);
    let broad = if dots.len() >= BROAD { " broad" } else { "" };
    let (wide, narrow) = (columns::drawing(dots, mean, &label), rows::drawing(dots, mean, &label));
    Markup(format!("<div class=\"drawing{broad}\">{wide}{narrow}</div>"))
}

/// The field in words, as its accessible name.
fn label(dots: &[Dot], mean: Option<Mean>) -> String {
    let mut counts = Counts::default();
    for dot in dots {
        if let Some(count) = counts.known.get_mut(place(dot.rank)) {
            *count += 1;
        }
    }
    let mean = mean.map(|mean| format!("; {}", mean.words())).unwrap_or_default();
    format!("Stances of the members: {}{mean}", counts.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn dots(count: usize, rank: i8, confidence: f64) -> Vec<Dot> {
        let name = |nth: usize| format!("Member {nth}");
        let dot = |nth: usize| Dot { name: name(nth), href: None, rank, confidence };
        (0..count).map(dot).collect()
    }

    fn consensus(score: f64) -> Option<Mean> {
        Some(Mean { score, distance: 0.5, is_consensus: true })
    }

    #[test]
    fn differences_of_shown_figures_are_those_that_readers_compute() {
        let (from, to) = (0.3551, 0.7046);
        assert_eq!([from, to].map(signed), ["+0.36", "+0.70"]);
        assert_eq!(signed(shown(to) - shown(from)), "+0.34");
    }

    #[test]
    fn label_has_counts_and_consensus() {
        let mut all = dots(2, 1, 0.5);
        all.extend(dots(1, -2, 0.1));
        let Markup(svg) = stance_field(&all, consensus(-0.5));
        let label = "Stances of the members: 1 bearish, 2 constructive; consensus −0.50";
        assert_eq!(svg.matches(&format!("aria-label=\"{label}\"")).count(), 2, "{svg}");
    }

    #[test]
    fn mean_without_a_quorum_is_no_consensus() {
        let mean = Mean { score: -0.5, distance: 0.5, is_consensus: false };
        let Markup(svg) = stance_field(&dots(3, 1, 0.5), Some(mean));
        assert!(!svg.contains("consensus") && svg.contains("mean of those filed −0.50"), "{svg}");
        assert!(svg.contains("class=\"mean open\"") && !svg.contains("class=\"mean\""), "{svg}");
    }

    #[test]
    fn every_member_is_one_dot_in_both_drawings() {
        for count in [1, 5, 19, 20, 40, 41, 250] {
            let spread: Vec<_> = dots(count, 0, 0.0)
                .into_iter()
                .enumerate()
                .map(|(nth, dot)| {
                    let rank = i8::try_from(nth % 5).unwrap() - 2;
                    Dot { rank, confidence: f64::from(u32::try_from(nth).unwrap()) / 400.0, ..dot }
                })
                .collect();
            let Markup(svg) = stance_field(&spread, None);
            let rings = svg.split("class=\"dots hole\"").skip(1);
            let holes: usize =
                rings.map(|path| path.split("/>").next().unwrap().matches("h0").count()).sum();
            let dots = svg.matches("<circle").count() + svg.matches("h0").count() - holes;
            assert_eq!(dots, 2 * count, "{svg}");
            assert!(svg.contains("class=\"name "), "some are named: {svg}");
            assert!(svg.len() < 20_000, "{count}: {}", svg.len());
        }
    }

    #[test]
    fn size_is_bounded_for_thousands_of_members() {
        let Markup(svg) = stance_field(&dots(5_000, 2, 1.0), consensus(2.0));
        assert!(svg.len() < 20_000 && svg.contains("1 dot = "), "{}", svg.len());
    }

    #[test]
    fn names_are_escaped() {
        let dot = Dot { name: "<b>\"x\"".to_owned(), href: None, rank: 0, confidence: 1.0 };
        let Markup(svg) = stance_field(&[dot], None);
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
    }

    #[test]
    fn consensus_is_a_line_between_two_stances_with_its_whisker() {
        let Markup(svg) = stance_field(&dots(1, 0, 0.5), consensus(-1.5));
        // Columns are 18 % apart, the first at 13 %.
        assert!(svg.contains("<line class=\"mean\" x1=\"22%\""), "{svg}");
        assert!(svg.contains("x1=\"13%\"") && svg.contains("x2=\"31%\""), "{svg}");
    }
}
