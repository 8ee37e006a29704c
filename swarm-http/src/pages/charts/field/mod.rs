//! The stance field: a chart of the stance and confidence of each member of a session.
//!
//! Wide pages show five columns, bearish to bullish; height is confidence. Narrow pages show five
//! rows, bullish on top; confidence grows to the right. Up to 19 members are all named. Of more only those
//! that are farthest from the consensus are; the table below the chart has all names. Dots are links to
//! the takes.

mod columns;
mod density;
mod frame;
mod rows;

use super::place;
use super::strip::Counts;
use crate::pages::markup::Markup;

use frame::{MAX_NAMED, consensus_text};

pub(crate) use frame::{Dot, shown, signed};

/// Draws the field. The consensus, −2 to 2, is a mark on the axis.
pub(crate) fn stance_field(dots: &[Dot], consensus: Option<f64>) -> Markup {
    let label = label(dots, consensus);
    let named = dots.len() <= MAX_NAMED;
    let wide = if named { columns::drawing(dots, consensus, &label) } else { None };
    let wide = wide.unwrap_or_else(|| density::columns(dots, consensus, &label));
    let narrow = if named {
        rows::drawing(dots, consensus, &label)
    } else {
        density::rows(dots, consensus, &label)
    };
    Markup(wide.0 + &narrow.0)
}

/// The field in words, as its accessible name.
fn label(dots: &[Dot], consensus: Option<f64>) -> String {
    let mut counts = Counts::default();
    for dot in dots {
        if let Some(count) = counts.known.get_mut(place(dot.rank)) {
            *count += 1;
        }
    }
    let consensus =
        consensus.map(|score| format!("; {}", consensus_text(score))).unwrap_or_default();
    format!("Stances of the members: {}{consensus}", counts.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn dots(count: usize, rank: i8, confidence: f64) -> Vec<Dot> {
        let name = |nth: usize| format!("Member {nth}");
        let dot = |nth: usize| Dot { name: name(nth), href: None, rank, confidence };
        (0..count).map(dot).collect()
    }

    #[test]
    fn label_has_counts_and_consensus() {
        let mut all = dots(2, 1, 0.5);
        all.extend(dots(1, -2, 0.1));
        let Markup(svg) = stance_field(&all, Some(-0.5));
        let label = "Stances of the members: 1 bearish, 2 constructive; consensus −0.50";
        assert_eq!(svg.matches(&format!("aria-label=\"{label}\"")).count(), 2, "{svg}");
    }

    #[test]
    fn of_more_than_19_members_only_outliers_are_named() {
        for (count, named) in [(1, true), (5, true), (19, true), (20, false), (250, false)] {
            let spread: Vec<_> = dots(count, 0, 0.0)
                .into_iter()
                .enumerate()
                .map(|(nth, dot)| {
                    let rank = i8::try_from(nth % 5).unwrap() - 2;
                    Dot { rank, confidence: f64::from(u32::try_from(nth).unwrap()) / 400.0, ..dot }
                })
                .collect();
            let Markup(svg) = stance_field(&spread, None);
            let names = svg.matches("class=\"name").count();
            assert_eq!(names == 2 * count, named, "{count}: {names} names");
            assert!(names > 0, "outliers are named: {svg}");
            let dots = svg.matches("<circle").count() + svg.matches("h0").count();
            assert_eq!(dots, 2 * count, "one dot each, in both drawings");
            assert!(svg.len() < 20_000, "{count}: {}", svg.len());
        }
    }

    #[test]
    fn size_is_bounded_for_thousands_of_members() {
        let Markup(svg) = stance_field(&dots(5_000, 2, 1.0), Some(2.0));
        assert!(svg.len() < 20_000, "{}", svg.len());
    }

    #[test]
    fn names_are_escaped() {
        let dot = Dot { name: "<b>\"x\"".to_owned(), href: None, rank: 0, confidence: 1.0 };
        let Markup(svg) = stance_field(&[dot], None);
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
    }

    #[test]
    fn consensus_mark_is_between_two_stances() {
        let Markup(svg) = stance_field(&dots(1, 0, 0.5), Some(-1.5));
        assert!(svg.contains("<svg x=\"16.2%\" y=\"13.25rem\" width=\"1rem\""), "{svg}");
    }
}
